// How the packets of one MLID spread: a tree of switches, and the ports that each copies to.
#pragma once

#include <vector>

#include "smd/fabric/fabric.h"
#include "smd/multicast/port_mask.h"

namespace smd {

struct TreeMember {
  PortIdx port;  // an end port
  bool receives = true;

  friend bool operator==(const TreeMember&, const TreeMember&) = default;
};

struct Branch {
  SwitchIdx sw;
  PortIdx up;  // of this switch, towards the root; kNone at the root

  friend bool operator==(const Branch&, const Branch&) = default;
};

struct SwitchMask {
  SwitchIdx sw;
  PortMask ports;

  friend bool operator==(const SwitchMask&, const SwitchMask&) = default;
};

struct Tree {
  std::vector<Branch> branches;   // ascending by switch; one is the root
  std::vector<PortIdx> stranded;  // members that no tree could take in; ascending

  friend bool operator==(const Tree&, const Tree&) = default;
};

/// The port by which packets of an end port enter a switch: port 0 of its own switch, or the far
/// end of its cable. kNone where that is no switch.
[[nodiscard]] inline PortIdx entry_of(const Fabric& fabric, PortIdx end_port) {
  if (fabric.is_switch(fabric.node_of[end_port])) return end_port;
  const PortIdx peer = fabric.peer[end_port];
  return peer != kNone<PortIdx> && fabric.is_switch(fabric.node_of[peer]) ? peer : kNone<PortIdx>;
}

/// Ports that switches copy to so that every sender reaches every receiver and nothing goes where
/// nobody receives: ascending by switch, without empty ones. Members that are stranded, or whose
/// switch is not in the tree, are left out.
[[nodiscard]] std::vector<SwitchMask> compute_masks(const Fabric& fabric,
                                                    const Tree& tree,
                                                    const std::vector<TreeMember>& members);

}  // namespace smd

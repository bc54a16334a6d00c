// Multicast groups of a scenario: who is in them, and their trees in the tables of the switches, as
// the manager lays, proves and writes them (smd/multicast, smd/manager).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "sim-backend/scenario/programmed_nodes.h"
#include "sim-backend/topology/fabric_spec.h"
#include "smd/base/result.h"
#include "smd/multicast/tree.h"
#include "smd/multicast/tree_quality.h"
#include "smd/subnet/active_subnet.h"

namespace smd::sim {

/// A [[group]] as it is written. One of `names`, `leaves`, `count` and `random`, or all hosts.
struct GroupText {
  int line = 0;  // of what says who is in it
  int mlid_line = 0;
  std::vector<std::string> names;   // hosts; of an adapter with several ports all of them
  std::vector<std::string> leaves;  // all hosts of these switches
  std::uint32_t count = 0;          // the first so many hosts
  std::uint32_t random = 0;         // so many, drawn
  std::uint64_t seed = 1;           // of the draw
  std::string sender;               // the host that alone sends, and receives nothing; or all do
  int sender_line = 0;
  std::optional<std::uint16_t> mlid;  // else the lowest that no other group has
};

/// A switch of a group's tree.
struct TreeNode {
  std::uint32_t node = 0;             // of the spec
  std::uint32_t parent = UINT32_MAX;  // its place in the list; none at the root
  PortNum up;                         // 0 at the root
};

struct ProgrammedGroup {
  Lid mlid;
  std::uint8_t sl = 0;
  std::vector<std::uint32_t> members;   // hosts, ascending
  std::optional<std::uint32_t> sender;  // one of them; nothing: all send and receive
  std::vector<TreeNode> tree;           // ascending by node
  std::vector<std::uint32_t> entry;     // of each member: the place of its switch in the tree
  TreeQuality quality;
};

struct GroupTables {
  std::vector<ProgrammedGroup> groups;  // as they are written
  std::optional<MulticastVl> lane;      // that they have to themselves
  std::optional<bool> acyclic;          // of trees and unicast routes together; nothing: not proved
  std::string cycle;                    // one of them
  std::string lane_refused;             // why they have no lane, though they need one
  std::string shape_refused;            // why trees are of another shape; empty: they are not
};

/// Writes the trees into the switches. A fault names the group's line.
[[nodiscard]] Parsed<GroupTables> program_groups(const FabricSpec& spec,
                                                 const std::vector<GroupText>& groups,
                                                 TreeShape shape,
                                                 unsigned vls,
                                                 const std::string& file,
                                                 ProgrammedFabric& fabric);

}  // namespace smd::sim

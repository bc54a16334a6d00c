// Multicast trees: switches and the ports that each copies to, and which way is up.
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <vector>

#include "smd/fabric/fabric.h"
#include "smd/ib/types.h"
#include "smd/routing/tables.h"

namespace smd {

// A set of ports of one switch, as a multicast forwarding table holds it: 16 positions of 16 ports.

inline constexpr unsigned kPortsPerPosition = 16;

class PortMask {
 public:
  void set(PortNum port) { word(port) |= bit(port); }

  void clear(PortNum port) { word(port) &= ~bit(port); }

  [[nodiscard]] bool test(PortNum port) const {
    return (words_[port.value() / 64] & bit(port)) != 0;
  }

  [[nodiscard]] bool any() const { return (words_[0] | words_[1] | words_[2] | words_[3]) != 0; }

  /// Ports 16 * position … 16 * position + 15; bit 0 is the first.
  [[nodiscard]] std::uint16_t position(unsigned number) const {
    return static_cast<std::uint16_t>(words_[number / 4] >> number % 4 * kPortsPerPosition);
  }

  void add(unsigned position, std::uint16_t ports) {
    words_[position / 4] |= std::uint64_t{ports} << position % 4 * kPortsPerPosition;
  }

  /// Every port of the set, ascending.
  template <class Visit>
  void each(Visit visit) const {
    for (unsigned w = 0; w < words_.size(); ++w) {
      for (std::uint64_t rest = words_[w]; rest != 0; rest &= rest - 1)
        visit(PortNum{static_cast<std::uint8_t>(w * 64 + unsigned(std::countr_zero(rest)))});
    }
  }

  PortMask& operator|=(const PortMask& other) {
    for (std::size_t w = 0; w < words_.size(); ++w) words_[w] |= other.words_[w];
    return *this;
  }

  /// Whether every port of this is in `other`.
  [[nodiscard]] bool within(const PortMask& other) const {
    for (std::size_t w = 0; w < words_.size(); ++w) {
      if ((words_[w] & ~other.words_[w]) != 0) return false;
    }
    return true;
  }

  friend bool operator==(const PortMask&, const PortMask&) = default;

 private:
  [[nodiscard]] std::uint64_t& word(PortNum port) { return words_[port.value() / 64]; }

  [[nodiscard]] static std::uint64_t bit(PortNum port) {
    return std::uint64_t{1} << port.value() % 64;
  }

  std::array<std::uint64_t, 4> words_{};
};

// How multicast trees are laid.

enum class TreeShape : std::uint8_t {
  UpDown,      // see forest.h
  BySender,    // likewise
  PathShared,  // see label_paths.h
  DualPath,    // likewise
  MultiPath,   // likewise
};

/// How switches are taken to copy, for the proof that packets never wait for each other in a
/// circle.
enum class CopyModel : std::uint8_t {
  Asynchronous,  // to each port when it is free there
  LockStep,      // to all ports at once, or not at all
};

// How the packets of one MLID spread: a tree of switches, and the ports that each copies to.

struct TreeMember {
  PortIdx port;  // an end port
  bool receives = true;
  bool sends = true;  // false: what it sends need not come to all

  friend bool operator==(const TreeMember&, const TreeMember&) = default;
};

/// The one member that sends, where it does not receive and there are others; else kNone.
[[nodiscard]] PortIdx find_only_sender(const std::vector<TreeMember>& members);

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

/// Both ends of the link are: else it may discard what is sent over it.
[[nodiscard]] inline bool is_link_active(const Fabric& fabric, PortIdx port) {
  return fabric.port_info[port].state() == PortState::Active &&
         fabric.port_info[fabric.peer[port]].state() == PortState::Active;
}

/// The port by which packets of an end port enter a switch: port 0 of its own switch, or the far
/// end of its link. kNone where that is no switch.
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

// Which way is up, for multicast trees: the directions that unicast routes obey, where they obey
// any, so that both together have no credit loop.

struct TreeRanks {
  IndexVector<SwitchIdx, std::uint32_t>
      rank;                 // up leads towards the smaller, then the smaller GUID
  bool of_unicast = false;  // unicast routes obey the same directions
  Orientation kept;         // to be given back with the next snapshot, where they are our own
};

/// Where the engine has no directions: away from the hosts if that leads to some switch above all
/// of them, as in trees; else up*/down* directions of our own, kept from `previous` as far as they
/// can.
[[nodiscard]] TreeRanks choose_ranks(const Fabric& fabric,
                                     const LidMap& lids,
                                     const RoutingTables& routing,
                                     const Orientation& previous);

}  // namespace smd

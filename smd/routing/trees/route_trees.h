// Routes as in-trees: the edge or slot that every switch takes towards a destination.
#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <utility>
#include <vector>

#include "smd/fabric/fabric.h"
#include "smd/routing/graph/switch_graph.h"
#include "smd/routing/tables.h"

namespace smd {

// One in-tree per destination switch: the edge that every other switch takes towards it.

class SwitchTrees {
 public:
  SwitchTrees() = default;

  explicit SwitchTrees(std::size_t switches)
      : switches_(switches), edges_(switches * switches, kNoEdge) {}

  [[nodiscard]] std::size_t switches() const { return switches_; }

  /// A position in the graph of the trees; kNoEdge at the destination and where no path leads
  /// there.
  [[nodiscard]] std::uint32_t edge(SwitchIdx destination, SwitchIdx at) const {
    return edges_[destination.value() * switches_ + at.value()];
  }

  void set_edge(SwitchIdx destination, SwitchIdx at, std::uint32_t edge) {
    edges_[destination.value() * switches_ + at.value()] = edge;
  }

  friend bool operator==(const SwitchTrees&, const SwitchTrees&) = default;

 private:
  std::size_t switches_ = 0;
  std::vector<std::uint32_t> edges_;  // destination-major
};

// Routes as trees towards their destinations, tree by tree: what layering walks. Forwarding tables
// are the same thing switch by switch.

inline constexpr std::uint32_t kNoTree = std::numeric_limits<std::uint32_t>::max();

/// One tree may serve several LIDs. A slot is a position among the edges of a switch, so that the
/// edge is graph.first_edge(sw) + slot.
class InTrees {
 public:
  /// `per_switch`: how many trees have their root at each switch. Every slot is kNoSlot.
  InTrees(const SwitchGraph& graph, const IndexVector<SwitchIdx, std::uint32_t>& per_switch);

  [[nodiscard]] std::uint32_t count() const { return static_cast<std::uint32_t>(roots_.size()); }

  [[nodiscard]] std::size_t switches() const { return first_tree_.size() - 1; }

  [[nodiscard]] SwitchIdx root(std::uint32_t tree) const { return roots_[tree]; }

  /// Trees of one root are numbered first_tree(root) … first_tree(root) + tree_count(root) - 1.
  [[nodiscard]] std::uint32_t first_tree(SwitchIdx root) const { return first_tree_[root.value()]; }

  [[nodiscard]] std::uint32_t tree_count(SwitchIdx root) const {
    return first_tree_[root.value() + 1] - first_tree_[root.value()];
  }

  [[nodiscard]] std::span<std::uint8_t> slots(std::uint32_t tree) {
    return {slots_.data() + tree * switches(), switches()};
  }

  [[nodiscard]] std::span<const std::uint8_t> slots(std::uint32_t tree) const {
    return {slots_.data() + tree * switches(), switches()};
  }

  /// The root, then the switches that reach it by shortest paths or along other directions; written
  /// by whoever makes the trees, for all trees of one root.
  [[nodiscard]] std::vector<std::uint32_t>& near_to_far(SwitchIdx root) {
    return near_to_far_[root];
  }

  [[nodiscard]] const std::vector<std::uint32_t>& near_to_far(SwitchIdx root) const {
    return near_to_far_[root];
  }

  /// The same of one tree, whose paths may be longer: a switch stands behind whoever it hands over
  /// to.
  [[nodiscard]] const std::vector<std::uint32_t>& order(std::uint32_t tree) const {
    return has_own_order(tree) ? own_order_[tree] : near_to_far_[roots_[tree]];
  }

  [[nodiscard]] bool has_own_order(std::uint32_t tree) const { return !own_order_[tree].empty(); }

  /// Empty: the tree has that of its root.
  void set_order(std::uint32_t tree, std::vector<std::uint32_t> order) {
    own_order_[tree] = std::move(order);
  }

 private:
  std::vector<std::uint32_t> first_tree_;  // switches + 1 entries
  std::vector<SwitchIdx> roots_;
  std::vector<std::uint8_t> slots_;
  IndexVector<SwitchIdx, std::vector<std::uint32_t>> near_to_far_;
  std::vector<std::vector<std::uint32_t>> own_order_;  // by tree, mostly empty
};

/// Which tree each LID has, up to the highest; kNoTree for LIDs that no switch serves.
using TreeOfLid = std::vector<std::uint32_t>;

/// Entries of every LID that has a tree, and of the last switches.
void write_entries(const SwitchGraph& graph,
                   const Targets& targets,
                   const InTrees& trees,
                   const TreeOfLid& tree_of,
                   ForwardingTables& tables);

// Routes in the making as trees, one to each destination: what rebalancing reads and changes.

class MovableTrees {
 public:
  virtual ~MovableTrees() = default;

  /// Trees are 0 … count() - 1.
  [[nodiscard]] virtual std::uint32_t count() const = 0;

  [[nodiscard]] virtual SwitchIdx root(std::uint32_t tree) const = 0;

  /// What each path to it weighs; 0: it does not count.
  [[nodiscard]] virtual std::uint32_t demand(std::uint32_t tree) const = 0;

  /// Position in the graph of the edge that the switch takes; kNoEdge at the root and where no path
  /// leads there.
  [[nodiscard]] virtual std::uint32_t edge(std::uint32_t tree, SwitchIdx sw) const = 0;

  /// Some switch leaves by another port than before the change.
  [[nodiscard]] virtual bool has_changed(std::uint32_t tree) const = 0;

  /// The switch leaves by another port than before the change anyhow.
  [[nodiscard]] virtual bool has_changed(std::uint32_t tree, SwitchIdx sw) const = 0;

  /// Likewise in some tree. Where that is not known it may be so.
  [[nodiscard]] virtual bool may_have_changed(SwitchIdx) const { return true; }

  /// Lets the switch take another edge. False, and nothing changes, where the rules of the engine
  /// forbid it. Called only where the path over it is as long as the one in force.
  [[nodiscard]] virtual bool take(std::uint32_t tree, SwitchIdx sw, std::uint32_t edge) = 0;
};

}  // namespace smd

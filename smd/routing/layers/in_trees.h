// Routes as trees towards their destinations, tree by tree: what layering walks. Forwarding tables
// are the same thing switch by switch.
#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "smd/routing/switch_graph.h"
#include "smd/routing/tables.h"

namespace smd {

inline constexpr std::uint32_t kNoTree = std::numeric_limits<std::uint32_t>::max();

/// A switch without a way: the root itself, or on another island.
inline constexpr std::uint8_t kNoWay = 255;

/// One tree may serve several LIDs. A way is a position among the edges of a switch, so that the
/// edge is graph.first_edge(sw) + way.
class InTrees {
 public:
  /// `per_switch`: how many trees have their root at each switch. Every way is kNoWay.
  InTrees(const SwitchGraph& graph, const IndexVector<SwitchIdx, std::uint32_t>& per_switch);

  [[nodiscard]] std::uint32_t count() const { return static_cast<std::uint32_t>(roots_.size()); }

  [[nodiscard]] std::size_t switches() const { return first_tree_.size() - 1; }

  [[nodiscard]] SwitchIdx root(std::uint32_t tree) const { return roots_[tree]; }

  /// Trees of one root are numbered first_tree(root) … first_tree(root) + tree_count(root) - 1.
  [[nodiscard]] std::uint32_t first_tree(SwitchIdx root) const { return first_tree_[root.value()]; }

  [[nodiscard]] std::uint32_t tree_count(SwitchIdx root) const {
    return first_tree_[root.value() + 1] - first_tree_[root.value()];
  }

  [[nodiscard]] std::span<std::uint8_t> ways(std::uint32_t tree) {
    return {ways_.data() + tree * switches(), switches()};
  }

  [[nodiscard]] std::span<const std::uint8_t> ways(std::uint32_t tree) const {
    return {ways_.data() + tree * switches(), switches()};
  }

  /// The root, then the switches that reach it; a switch stands behind whoever it hands over to.
  /// Written by whoever makes the trees; the same for all trees of one root.
  [[nodiscard]] std::vector<std::uint32_t>& near_to_far(SwitchIdx root) {
    return near_to_far_[root];
  }

  [[nodiscard]] const std::vector<std::uint32_t>& near_to_far(SwitchIdx root) const {
    return near_to_far_[root];
  }

 private:
  std::vector<std::uint32_t> first_tree_;  // switches + 1 entries
  std::vector<SwitchIdx> roots_;
  std::vector<std::uint8_t> ways_;
  IndexVector<SwitchIdx, std::vector<std::uint32_t>> near_to_far_;
};

/// Which tree each LID has, up to the highest; kNoTree for LIDs that no switch serves.
using TreeOfLid = std::vector<std::uint32_t>;

/// Entries of every LID that has a tree, and of the last switches.
void write_entries(const SwitchGraph& graph,
                   const Targets& targets,
                   const InTrees& trees,
                   const TreeOfLid& tree_of,
                   ForwardingTables& tables);

}  // namespace smd

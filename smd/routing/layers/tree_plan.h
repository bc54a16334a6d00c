// Which trees there are to be, before any is grown.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "smd/routing/engine.h"
#include "smd/routing/layers/in_trees.h"

namespace smd {

enum class TreePer : std::uint8_t { EachLid, EachSwitch };

/// The LIDs of one port, or of all ports at a switch: one tree for each offset.
struct TreeFamily {
  SwitchIdx root;
  Lid base;  // of the port; with a family for all ports, of the first that has most LIDs
  std::uint32_t first_tree = 0;
  std::uint32_t trees = 1;
  std::uint64_t weight = 0;  // traffic to it
};

struct TreePlan {
  std::vector<TreeFamily> families;  // in the order of their roots, and of their trees
  TreeOfLid of_lid;
  std::vector<std::uint32_t> weight_of_source;  // by switch: paths that begin there

  [[nodiscard]] IndexVector<SwitchIdx, std::uint32_t> count_trees() const;

  [[nodiscard]] bool has_idle() const {
    return std::ranges::any_of(families, [this](const auto& family) { return is_idle(family); });
  }

  /// No traffic begins or ends at the root.
  [[nodiscard]] bool is_idle(const TreeFamily& family) const {
    return weight_of_source[family.root.value()] == 0;
  }
};

/// `sharing`: the LID of a switch has the tree of a host at it, if there is one.
/// Targets that are not there any more (see find_gone()) weigh nothing.
[[nodiscard]] TreePlan plan_trees(const Fabric& fabric,
                                  const LidMap& lids,
                                  const Targets& targets,
                                  const RoutingRequest& request,
                                  Lid top,
                                  TreePer per,
                                  bool sharing);

}  // namespace smd

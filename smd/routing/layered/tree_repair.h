// Repairs and rebalances the in-trees in force after a change.
#pragma once

#include <functional>
#include <vector>

#include "smd/routing/layered/balanced_trees.h"
#include "smd/routing/layered/tree_grower.h"

namespace smd {

// Evens what a change leaves uneven in layered trees.

struct TreesToRebalance {
  const SwitchGraph& graph;
  const TreePlan& plan;
  InTrees& trees;
  std::uint32_t offset;  // of LIDs: only their trees
  std::vector<std::vector<std::uint32_t>>&
      changed;  // by tree: switches with another next hop, grows
};

/// Takes paths off the fullest channels: next hops that have changed anyhow as long as that helps,
/// others only until no channel carries more than one did from scratch. Returns what to hand on.
/// Requires: the loads of `grower` are those of all trees of the offset.
[[nodiscard]] Imbalance rebalance_trees(TreesToRebalance on,
                                        TreeGrower& grower,
                                        const Imbalance& before);

// The trees in force, on a fabric that has changed since.

struct RepairedTrees {
  /// A next hop that is not the one in force.
  struct Change {
    std::uint32_t tree;
    std::uint32_t sw;
  };

  Targets targets;  // those that are gone included, while the switch that served them is there
  BalancedTrees balanced;
  Orientation orientation;                       // of the detours; empty where there are none
  std::vector<Change> changes;                   // by tree
  Imbalance imbalance;                           // to hand on
  IndexVector<SwitchIdx, SwitchIdx> row_before;  // of a switch, in the tables in force
};

/// Keeps every next hop that is still a shortest one. The others go where least is carried, and
/// links that came up get paths that others let go of, as long as that evens the loads. Then the
/// fullest channels are rebalanced, see rebalance_trees(). Detours to switches without hosts are
/// kept along the orientation in force, as far as it holds. A LID that nobody has any more keeps
/// its tree, so that who comes back finds it.
[[nodiscard]] RepairedTrees repair_trees(const Fabric& fabric,
                                         const LidMap& lids,
                                         const SwitchGraph& graph,
                                         const RoutingRequest& request,
                                         TreePer per);

}  // namespace smd

// The in-trees in force, on a fabric that has changed since: repaired and rebalanced.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "smd/routing/layered/balanced_trees.h"
#include "smd/routing/layered/layering.h"
#include "smd/routing/layered/tree_grower.h"

namespace smd {

struct RepairedTrees {
  Targets targets;  // those that are gone included, while the switch that served them is there
  BalancedTrees balanced;
  std::unique_ptr<OrientedFabric> oriented;      // for detours; null where there are none
  Imbalance imbalance;                           // to hand on
  IndexVector<SwitchIdx, SwitchIdx> row_before;  // of a switch, in the tables in force
  IndexVector<SwitchIdx, char> led_around;       // roots that detours lead to
  std::vector<std::uint8_t> before;              // slots in force, as InTrees has them
};

/// Takes over every next hop that still leads to the destination; the others are none. A LID that
/// nobody has any more keeps its tree, so that who comes back finds it.
[[nodiscard]] RepairedTrees take_trees_over(const Fabric& fabric,
                                            const LidMap& lids,
                                            const SwitchGraph& graph,
                                            const RoutingRequest& request,
                                            TreePer per);

/// Completes them. Next hops are found as TreeSearch does it, within the layers that paths have;
/// links that came up shorten paths and get some that others let go of, as long as that evens the
/// loads and every path keeps its layer. Then the fullest channels are rebalanced, see
/// rebalance_trees(). Detours to switches without hosts are kept along the orientation in force, as
/// far as it holds.
/// `layering`: of these trees, with the layers that paths have had; those that do not fit theirs
/// any more are reopened. False: the layers in force have a cycle.
[[nodiscard]] bool repair_trees(const Fabric& fabric,
                                const SwitchGraph& graph,
                                const RoutingRequest& request,
                                RepairedTrees& repaired,
                                Layering& layering);

}  // namespace smd

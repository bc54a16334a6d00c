// The trees in force, on a fabric that has changed since.
#pragma once

#include <vector>

#include "smd/routing/layers/balanced_trees.h"

namespace smd {

struct MendedTrees {
  /// A way that is not the one in force.
  struct Change {
    std::uint32_t tree;
    std::uint32_t sw;
  };

  Targets targets;  // those that are gone included, while the switch that served them is there
  BalancedTrees balanced;
  Orientation orientation;                       // of the detours; empty where there are none
  std::vector<Change> changes;                   // by tree
  Evenness evenness;                             // to hand on
  IndexVector<SwitchIdx, SwitchIdx> row_before;  // of a switch, in the tables in force
};

/// Keeps every way that is still a shortest one. The others go where least is carried, and links
/// that came up get ways that others let go of, as long as that evens the loads. Then
/// the fullest channels are relieved, see relieve_trees().
/// Detours to switches without hosts are kept along the orientation in force, as far as it holds.
/// A LID that nobody has any more keeps its tree, so that who comes back finds it.
[[nodiscard]] MendedTrees mend_trees(const Fabric& fabric,
                                     const LidMap& lids,
                                     const SwitchGraph& graph,
                                     const RoutingRequest& request,
                                     TreePer per);

}  // namespace smd

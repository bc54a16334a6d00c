// Shortest paths to every LID as trees that share the load: the weight of a channel grows by the
// paths that are laid over it, and each tree takes the ways of least weight (SSSP; Hoefler,
// Schneider and Lumsdaine 2009).
#pragma once

#include "smd/routing/layers/tree_grower.h"
#include "smd/routing/oriented_fabric.h"

namespace smd {

struct TreeStyle {
  TreePer per = TreePer::EachLid;
  WayChoice choice = WayChoice::Load;
};

struct BalancedTrees {
  TreePlan plan;
  InTrees trees;
  std::uint64_t heaviest_load = 0;  // of any channel, over the trees to base LIDs
  Evenness evenness;                // over the same
};

/// Paths are counted from hosts to hosts: from every host alike, to each by
/// RoutingRequest::weights. LIDs of one port differ in their ways where they can; the LIDs of each
/// offset are balanced for themselves. The LID of a switch carries nothing and has the tree of a
/// host at it, if there is one.
[[nodiscard]] BalancedTrees build_balanced_trees(const Fabric& fabric,
                                                 const LidMap& lids,
                                                 const SwitchGraph& graph,
                                                 const Targets& targets,
                                                 const RoutingRequest& request,
                                                 TreeStyle style);

/// Grows the trees to switches without hosts anew, along up*/down* ways.
void lead_around(const Fabric& fabric, const OrientedFabric& oriented, BalancedTrees& trees);

}  // namespace smd

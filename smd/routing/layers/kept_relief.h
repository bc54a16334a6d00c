// Evens what a change leaves uneven in layered trees.
#pragma once

#include <functional>
#include <vector>

#include "smd/routing/layers/tree_grower.h"

namespace smd {

struct TreesToRelieve {
  const SwitchGraph& graph;
  const TreePlan& plan;
  InTrees& trees;
  std::uint32_t offset;                              // of LIDs: only their trees
  std::vector<std::vector<std::uint32_t>>& changed;  // by tree: switches with another way, grows
};

/// Takes paths off the fullest channels: ways that have changed anyhow as long as that helps,
/// others only until no channel carries more than one did from scratch. Returns what to hand on.
/// Requires: the loads of `grower` are those of all trees of the offset.
[[nodiscard]] Evenness relieve_trees(TreesToRelieve on, TreeGrower& grower, const Evenness& before);

}  // namespace smd

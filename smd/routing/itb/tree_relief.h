// Evens what a change leaves uneven in the in-trees of switches.
#pragma once

#include <vector>

#include "smd/routing/balance/tree_balance.h"
#include "smd/routing/tables.h"

namespace smd {

/// Takes paths off the fullest channels. `changed` (destination-major, as SwitchTrees): ways that
/// were not in force; they move as long as that helps, others only until no channel carries more
/// than one did from scratch, as `before` says. Returns what to hand on.
/// Requires: every way is part of a shortest path. `balance` has filled the trees; it is not told.
Evenness relieve_switch_trees(const SwitchGraph& graph,
                              const Demand& demand,
                              const std::vector<std::uint32_t>& costs,
                              const TreeBalance& balance,
                              const std::vector<char>& changed,
                              const Evenness& before,
                              SwitchTrees& trees);

}  // namespace smd

// A way between two tables that nothing mixes with both: over spanning trees.
//
// Routes that follow one tree close no cycle. A tree is grown that goes with the held routes, and
// one that goes with the wanted ones; from the first to the second, switches change their parents,
// all those at once whose old and new parents together still form no circle: then routes over both
// trees are up*/down* routes of one orientation.
#pragma once

#include <vector>

#include "smd/plan/mixture.h"

namespace smd {

/// Tables to go through one after the other, before the wanted ones. Empty when there are no such
/// trees. `mixture` is of the task; `empty` holds no turns, but those struck that cannot be taken.
/// Requires: no unknown blocks; switches without data hold what they should.
[[nodiscard]] std::vector<ForwardingTables> find_tree_walk(const TransitionTask& task,
                                                           const PlanScene& scene,
                                                           Mixture& mixture,
                                                           const TurnGraph& empty);

}  // namespace smd

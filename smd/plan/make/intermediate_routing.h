// Looks for phases without blocking where entries may take other values on the way: those of an
// intermediate routing, or of spanning trees one after the other.
#pragma once

#include <optional>
#include <vector>

#include "smd/plan/make/ordered_phases.h"
#include "smd/plan/make/transient_graph.h"

namespace smd {

// Routes for the time between two tables that do not mix: old routes give way to them without a
// deadlock, and they to the new ones.
//
// The dependencies of the old routes and of the intermediate routing close no cycle, nor do those
// of the intermediate one and of the new routes. Destination by destination a tree is grown over
// turns that can be added to both graphs.

struct IntermediateRouting {
  ForwardingTables tables;
  std::size_t built =
      0;  // LIDs that left their old routes: for an intermediate routing, or for the wanted routes
};

/// LIDs that find no intermediate routing keep what `task.held` has; those whose new routes go with
/// the old ones as they are have them already. `transient` is of the task; `empty` holds no turns,
/// but those forbidden that cannot be taken. Only links that carry data now are used. Requires: no
/// unknown blocks; switches without data hold what they should.
[[nodiscard]] IntermediateRouting build_intermediate_routing(const TransitionTask& task,
                                                             const InitialState& initial,
                                                             TransientGraph& transient,
                                                             const TurnGraph& empty);

// A sequence of tables between two that nothing mixes with both: over spanning trees.
//
// Routes that follow one tree close no cycle. A tree is grown that goes with the held routes, and
// one that goes with the wanted ones; from the first to the second, switches change their parents,
// all those at once whose old and new parents together still form no circle: then routes over both
// trees are up*/down* routes of one orientation.

/// Tables to go through one after the other, before the wanted ones. Empty when there are no such
/// trees. `transient` is of the task; `empty` holds no turns, but those forbidden that cannot be
/// taken. Requires: no unknown blocks; switches without data hold what they should.
[[nodiscard]] std::vector<ForwardingTables> find_spanning_tree_steps(const TransitionTask& task,
                                                                     const InitialState& initial,
                                                                     TransientGraph& transient,
                                                                     const TurnGraph& empty);

// Looks for phases without blocking where entries may take other values on the way.

/// Intermediate routings are looked for while so many pairs of a LID that changes and a port are to
/// be looked at for each, and steps over trees while all tables together have so many entries: they
/// rewrite all of them, several times.
inline constexpr std::size_t kMostIntermediatePairs = 1'000'000;
inline constexpr std::size_t kMostTreeEntries = 60'000;

/// Held tables, intermediate ones, wanted tables: phases of every leg, for a fabric that drains
/// between them. None where no intermediate routing leads on, or blocks are unknown, or a switch
/// has random tables, which may not hold what a detour adds.
[[nodiscard]] std::optional<OrderedPlan> find_intermediate_phases(const TransitionTask& task,
                                                                  const InitialState& initial,
                                                                  const TurnGraph& empty,
                                                                  unsigned max_phases);

}  // namespace smd

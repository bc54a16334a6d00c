// Looks for phases without blocking where entries may take other values on the way.
#pragma once

#include <optional>

#include "smd/plan/ordered_search.h"

namespace smd {

/// Bridges are looked for while so many pairs of a LID that changes and a port are to be looked at
/// for each, and ways over trees while all tables together have so many entries: they rewrite all
/// of them, several times.
inline constexpr std::size_t kMostBridgedPairs = 1'000'000;
inline constexpr std::size_t kMostWalkedEntries = 60'000;

/// Held tables, bridges, wanted tables: phases of every leg, for a fabric that drains between them.
/// None where no bridge leads on, or blocks are unknown, or a switch has random tables, which may
/// not hold what a detour adds.
[[nodiscard]] std::optional<OrderedPlan> find_bridged_phases(const TransitionTask& task,
                                                             const PlanScene& scene,
                                                             const TurnGraph& empty,
                                                             unsigned max_phases);

}  // namespace smd

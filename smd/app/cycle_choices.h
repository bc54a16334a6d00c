// What the settings mean for one cycle.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "smd/app/multicast_lane.h"
#include "smd/app/settings.h"
#include "smd/discovery/sweep_report.h"
#include "smd/fabric/fabric.h"
#include "smd/plan/planner.h"

namespace smd::app {

/// Rounds of routes: provisional ones may come before the final ones.
[[nodiscard]] unsigned count_rounds(const Assimilation& how);

/// The engine of a round, from 0.
[[nodiscard]] std::string engine_of_round(const Settings& settings, unsigned round);

/// As configured; the thesis orients from the switch that the manager sits on.
[[nodiscard]] std::vector<Guid> choose_roots(const Settings& settings, const Fabric& fabric);

/// The manager's own node, or a switch that others are reached through alone: leaving it out would
/// cost more than itself and its adapters.
[[nodiscard]] bool is_indispensable(const SweepReport& found, NodeIdx node);

/// Those of `settings`, as far as the forwarding table of an indispensable switch has room for
/// them.
[[nodiscard]] LidPolicy choose_lids(const Settings& settings, const SweepReport& found);

/// A switch that others can do without and whose linear forwarding table has no room for the LIDs
/// up to `top`, and a line that says so.
[[nodiscard]] std::optional<std::pair<Guid, std::string>> find_small_table(const SweepReport& found,
                                                                           Lid top);

[[nodiscard]] PlannerOptions planner_options(const Assimilation& how);

/// As configured; where routes need several lanes, SL s goes to VL s modulo their number instead.
/// `apart` keeps its lane to itself.
[[nodiscard]] QosPolicy choose_qos(const Settings& settings,
                                   unsigned route_vls,
                                   const std::optional<MulticastLane>& apart);

/// The time that a simulation charges for the routes of a round, of which `share` was made anew; 0
/// elsewhere.
[[nodiscard]] Duration charge(const Settings& settings,
                              unsigned round,
                              std::size_t nodes,
                              double share = 1);

}  // namespace smd::app

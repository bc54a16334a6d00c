// The work that runs off the loop: tables, the check that did not make them, the plan that leads to
// them, and the check of that.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "smd/app/active_subnet.h"
#include "smd/app/lane_job.h"
#include "smd/plan/held_tables.h"
#include "smd/plan/planner.h"
#include "smd/routing/check.h"
#include "smd/routing/engine.h"

namespace smd::app {

struct RouteJob {
  std::shared_ptr<const Fabric> fabric;
  LidMap lids;
  std::string engine;
  bool fallback = false;  // updn takes the place of an engine that refuses or fails the check
  unsigned max_vls = 15;  // that the site lets ports use
  std::vector<Guid> roots;
  RootChoice root_choice = RootChoice::Trial;
  OrientationSearch orientation_search = OrientationSearch::BreadthFirst;
  LaneCut lane_cut = LaneCut::UpDown;
  GatewayChoice gateways = GatewayChoice::OwnFirst;
  std::vector<std::pair<Guid, std::uint32_t>> weights;
  Orientation orientation;                       // empty: from scratch
  std::shared_ptr<const ActiveSubnet> in_force;  // null: from scratch
  std::optional<ForwardingTables> found;  // of another manager: kept as far as they lead somewhere
};

struct Routed {
  RoutingTables tables;
  RouteReport routes;
  std::string
      fallback_reason;  // why another engine than the asked one was used; empty when it was not
  std::optional<Error> error;  // refused, or not verified: `tables` must not be written
};

[[nodiscard]] Routed compute_routed(const RouteJob& job);

/// For a fabric that is as it was, where the fullest channel carries over 5 % more than from
/// scratch: the routes in force, relieved as far as that; where the engine does not get there,
/// those from scratch. Nothing where the routes in force are even enough, or of another engine than
/// the one asked for.
[[nodiscard]] std::optional<Routed> compute_relief(const RouteJob& job);

/// `next` for the LIDs up to `last`, `now` for the rest. Requires: one shape.
[[nodiscard]] RoutingTables take_over(const RoutingTables& now,
                                      const RoutingTables& next,
                                      Lid last);

struct PlanJob {
  std::shared_ptr<const ActiveSubnet> goal;  // what the fabric shall become
  HeldTables held;
  std::vector<Turn> blocked;
  PlannerOptions options;
  bool next_hop_first = false;  // outwards from each destination, whatever `options` says

  // Where `goal` has rows:
  RowMemory rows;         // as confirmed
  Told told;              // whose SLs hosts may be using
  std::size_t found = 0;  // switches beyond so many linger
};

/// Planned and checked. A plan that its check refuses is replaced by the deactivation of the
/// subnet, which needs no proof; `why` says so.
[[nodiscard]] TransitionPlan compute_plan(const PlanJob& job);

/// The job of a plan that reckons with what lingers beside the goal and changes nothing there.
struct LingeringJob {
  PlanJob job;  // its goal: on all that may carry data
  PlanJob without;
};

/// Where no such plan can be proved, what lingers is cut off: a first phase deactivates the living
/// ends of its cables, and the rest is the plan without it. Nothing that answers is routed there.
[[nodiscard]] TransitionPlan compute_plan(const LingeringJob& job);

/// For reports: lengths and loads of the routes in force.
struct RouteStatistics {
  RouteReport routes;
  LoadReport load;
};

[[nodiscard]] RouteStatistics compute_statistics(const ActiveSubnet& in_force);

}  // namespace smd::app

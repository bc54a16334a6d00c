#include "smd/app/route_job.h"

#include <algorithm>
#include <utility>

#include "smd/app/carrying.h"
#include "smd/app/found_routes.h"
#include "smd/plan/check_transition.h"
#include "smd/routing/paths_of_switches.h"

namespace smd::app {
namespace {

/// The fullest channel against that of routes from scratch, at rest.
constexpr double kEven = 1.05;

/// Where one switch is left at most, as when the manager's own cable is pulled, there is no shape
/// to find, and none is needed.
const Engine* engine_for(const Fabric& fabric, const std::string& name) {
  const Engine* const asked = find_engine(name);
  return asked != nullptr && fabric.switch_count() <= 1 ? find_engine("updn") : asked;
}

enum class Keep : std::uint8_t { Nothing, Routes, RoutesButRelieve };

bool made_by(const RoutingTables& tables, const std::string& engine) {
  return tables.engine == engine || tables.chosen_by == engine;
}

Routed compute_with(const RouteJob& job, const std::string& engine, Keep keep) {
  Routed out;
  const Engine* chosen = engine_for(*job.fabric, engine);
  if (chosen == nullptr) {
    out.error = Error{Errc::Invalid, fmt::format("no engine '{}'", engine)};
    return out;
  }
  PreviousRoutes previous;
  RoutingRequest request{.roots = job.roots,
                         .max_vls = std::min(job.max_vls, count_common_lanes(*job.fabric)),
                         .orientation_search = job.orientation_search,
                         .root_choice = job.root_choice,
                         .lane_cut = job.lane_cut,
                         .gateways = job.gateways,
                         .weights = job.weights,
                         .relieve = keep == Keep::RoutesButRelieve};
  if (!job.orientation.by_guid.empty()) request.previous = &job.orientation;
  // Routes over other directions than those of the request are no help.
  const bool same_directions =
      keep != Keep::Nothing && job.in_force &&
      (job.in_force->routing->orientation.by_guid.empty() ||
       job.in_force->routing->orientation.by_guid == job.orientation.by_guid);
  if (same_directions && made_by(job.in_force->routing, engine)) {
    previous = {.fabric = job.in_force->sweep.fabric.get(),
                .lids = &*job.in_force->lids,
                .routing = &*job.in_force->routing};
    request.in_force = &previous;
  }
  auto tables = chosen->compute(*job.fabric, job.lids, request);
  if (!tables) {
    out.error = tables.error();
    return out;
  }
  out.tables = std::move(*tables);
  out.routes = check_routes(*job.fabric, job.lids, out.tables, {.minimality = false});
  if (!out.routes.acyclic && lead_switches_apart(*job.fabric, job.lids, out.tables))
    out.routes = check_routes(*job.fabric, job.lids, out.tables, {.minimality = false});
  if (!out.routes.ok()) {
    std::string why = "unverified tables: ";
    if (!out.routes.first_faults.empty()) why += out.routes.first_faults.front();
    if (!out.routes.acyclic) why += "credit loop " + print_cycle(*job.fabric, out.routes.cycle);
    out.error = Error{Errc::Unsupported, engine + ": " + why};
  }
  return out;
}

}  // namespace

Routed compute_routed(const RouteJob& job) {
  if (!job.found) {
    Routed kept = compute_with(job, job.engine, Keep::Routes);
    if (!kept.error) return kept;
  }
  Routed fresh = compute_with(job, job.engine, Keep::Nothing);
  if (job.found) {
    if (auto found = keep_found(job, *job.found, fresh)) return std::move(*found);
  }
  if (!fresh.error || !job.fallback || job.engine == "updn") return fresh;
  Routed other = compute_with(job, "updn", Keep::Routes);
  if (other.error) other = compute_with(job, "updn", Keep::Nothing);
  other.fallback_reason = fresh.error->context;
  return other;
}

std::optional<Routed> compute_relief(const RouteJob& job) {
  const RoutingTables& now = job.in_force->routing;
  if (!made_by(now, job.engine)) return std::nullopt;
  RouteJob without_past = job;
  without_past.orientation = {};
  Routed fresh = compute_with(without_past, job.engine, Keep::Nothing);
  if (fresh.error) return std::nullopt;
  const auto peak_of = [&](const RoutingTables& tables) {
    return measure_load(*job.fabric, job.lids, tables.lft).max;
  };
  const std::uint64_t least = peak_of(fresh.tables);
  const auto is_even = [&](const RoutingTables& tables) {
    return kEven * static_cast<double>(least) >= static_cast<double>(peak_of(tables));
  };
  if (is_even(now)) return std::nullopt;
  Routed relieved = compute_with(job, job.engine, Keep::RoutesButRelieve);
  return !relieved.error && is_even(relieved.tables) ? relieved : fresh;
}

RoutingTables take_over(const RoutingTables& now, const RoutingTables& next, Lid last) {
  RoutingTables out = next;
  for (std::uint32_t sw = 0; sw < next.lft.switches(); ++sw) {
    for (unsigned lid = last.value() + 1u; lid <= next.lft.top().value(); ++lid) {
      const Lid destination{static_cast<std::uint16_t>(lid)};
      out.lft.set_route(SwitchIdx{sw}, destination, now.lft.route(SwitchIdx{sw}, destination));
    }
  }
  return out;
}

namespace {

TransitionPlan plan_and_check(const PlanJob& job, const PlannerOptions& wanted_options) {
  std::optional<LaneTask> lanes;
  if (!job.goal->rows->empty())
    lanes = build_lane_task(*job.goal, job.told, job.rows, job.found, job.blocked);
  const TransitionTask task{.fabric = job.goal->sweep.fabric.get(),
                            .lids = &*job.goal->lids,
                            .held = &job.held.lft,
                            .wanted = &job.goal->routing->lft,
                            .unknown = job.held.unknown,
                            .blocked = job.blocked,
                            .orientation = &job.goal->routing->orientation,
                            .lanes = lanes ? &*lanes : nullptr};
  // Where every entry is as wanted, nothing is taken down or rewritten, whatever the mode: a second
  // look after ports were retrained on purpose must come to an end.
  const bool settled = job.held.unknown.empty() && job.held.lft == job.goal->routing->lft;
  const PlannerOptions options = settled ? PlannerOptions{} : wanted_options;
  TransitionPlan plan =
      job.next_hop_first ? plan_next_hop_first(task, options) : plan_transition(task, options);
  const TransitionVerdict verdict = check_transition(task, plan);
  if (verdict.ok()) return plan;
  PlannerOptions safest = wanted_options;
  safest.first = Deactivation::All;
  TransitionPlan last = plan_transition(task, safest);
  last.why =
      fmt::format("the {} plan was refused: {}", print_transition_kind(plan.kind), verdict.fault);
  return last;
}

}  // namespace

TransitionPlan compute_plan(const PlanJob& job) { return plan_and_check(job, job.options); }

TransitionPlan compute_plan(const LingeringJob& job) {
  const Fabric& found = job.without.goal->fabric();
  PlannerOptions options = job.job.options;
  options.detours = false;  // what lingers takes no entries
  TransitionPlan plan = plan_and_check(job.job, options);
  if (plan.certified() && !reaches_beyond(found, plan)) return plan;
  TransitionPlan other = compute_plan(job.without);
  std::vector<PortIdx> ends = find_ends_of_lingering(found, job.job.goal->fabric());
  const std::string why =
      fmt::format("{} ports to switches that answer nothing are taken down", ends.size());
  other.why = other.why.empty() ? why : why + "; " + other.why;
  other.phases.insert(other.phases.begin(), TransitionPhase{.deactivate = std::move(ends)});
  return other;
}

RouteStatistics compute_statistics(const ActiveSubnet& in_force) {
  return {.routes = check_routes(in_force.fabric(), in_force.lids, in_force.routing),
          .load = measure_load(in_force.fabric(), in_force.lids, in_force.routing->lft)};
}

}  // namespace smd::app

#include "plugins/opensm/compute_routes.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "smd/routing/nue/paths_of_switches.h"
#include "smd/routing/verify/check_routes.h"

namespace smd::opensm {
namespace {

constexpr std::string_view kQosIsOff =
    " (OpenSM's qos is off, so that it writes no SL-to-VL tables; say qos TRUE to use more)";

unsigned count_allowed_vls(const SweepRequest& request) {
  if (!request.writes_sl_to_vl) return 1;
  unsigned vls = std::min(request.usable_vls, count_common_vls(*request.fabric));
  if (request.options.vls != 0) vls = std::min(vls, request.options.vls);
  return std::max(1u, vls);
}

std::string describe_fault(const Fabric& fabric, const RouteReport& report) {
  if (!report.first_faults.empty()) return report.first_faults.front();
  if (!report.acyclic) return "credit loop " + print_cycle(fabric, report.cycle);
  return fmt::format("{} unreachable, {} looping pairs", report.unreachable, report.loops);
}

/// SL-to-VL tables that change lanes on the way discard what no unicast path needs. OpenSM's own
/// multicast trees take other turns, and it gives no PathRecord for an SL that some switch on the
/// way discards, whichever SL the engine would have said.
bool discards_any_sl(const RoutingTables& tables) {
  return std::ranges::any_of(tables.sl_to_vl.rows(), [](const SlToVl& row) {
    return std::ranges::count(row, kManagementVl) != 0;
  });
}

bool made_by(const RoutingTables& tables, const Engine& engine) {
  return tables.engine == engine.name() || tables.chosen_by == engine.name();
}

Result<std::shared_ptr<const Routes>> compute_near(const Engine& engine,
                                                   const SweepRequest& request,
                                                   const Routes* before) {
  RoutingRequest ask{.options = {.roots = request.options.roots,
                                 .orientation_search = request.options.orientation_search,
                                 .lane_cut = request.options.lane_cut,
                                 .gateways = request.options.gateways,
                                 .auto_for = request.options.auto_for,
                                 .shorten_detours = request.options.shorten_detours},
                     .seed = request.options.seed,
                     .max_vls = count_allowed_vls(request),
                     .vl_changes = false,
                     .rebalance = request.options.rebalance};
  PreviousRoutes previous;
  if (before != nullptr) {
    previous = {.fabric = before->fabric.get(), .lids = &before->lids, .routing = &before->tables};
    ask.in_force = &previous;
    if (!before->tables.orientation.by_guid.empty()) ask.previous = &before->tables.orientation;
  }
  auto tables = engine.compute(*request.fabric, request.lids, ask);
  const std::string_view qos = request.writes_sl_to_vl ? std::string_view{} : kQosIsOff;
  if (!tables) return fail(tables.error().code, tables.error().context + std::string(qos));
  if (tables->vls > ask.max_vls || (!request.writes_sl_to_vl && needs_sl_to_vl(*tables)))
    return fail(
        Errc::Unsupported,
        fmt::format("the routes need {} VLs with SL-to-VL tables of their own, {} allowed{}",
                    tables->vls,
                    ask.max_vls,
                    qos));
  if (discards_any_sl(*tables))
    return fail(Errc::Unsupported,
                "its SL-to-VL tables discard SLs, on which OpenSM may send multicast");
  if (before != nullptr)
    static_cast<void>(keep_switches_apart(previous, *request.fabric, request.lids, *tables));
  const auto check = [&] {
    return check_routes(*request.fabric,
                        request.lids,
                        *tables,
                        {.minimality = false, .any_sl = request.options.any_sl});
  };
  RouteReport report = check();
  if (!report.acyclic && lead_switches_apart(*request.fabric, request.lids, *tables))
    report = check();
  if (!report.ok())
    return fail(Errc::Unsupported,
                "its tables failed the check: " + describe_fault(*request.fabric, report));
  tables->sequence = {};
  return std::make_shared<const Routes>(
      Routes{.fabric = request.fabric, .lids = request.lids, .tables = std::move(*tables)});
}

}  // namespace

Result<std::shared_ptr<const Routes>> compute_routes(const Engine& engine,
                                                     const SweepRequest& request) {
  const Routes* const before = request.in_force.get();
  if (request.options.keep && before != nullptr && made_by(before->tables, engine)) {
    if (auto kept = compute_near(engine, request, before)) return kept;
  }
  return compute_near(engine, request, nullptr);
}

}  // namespace smd::opensm

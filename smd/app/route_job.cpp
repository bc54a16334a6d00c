#include "smd/app/route_job.h"

#include <utility>

namespace smd::app {

Routed compute_routed(const Fabric& fabric,
                      const LidMap& lids,
                      const RoutingRequest& request,
                      const std::string& engine,
                      bool fallback) {
  Routed out;
  const Engine* chosen = find_engine(engine);
  if (chosen == nullptr) {
    out.error = Error{Errc::Invalid, fmt::format("no engine '{}'", engine)};
    return out;
  }
  auto tables = chosen->compute(fabric, lids, request);
  if (!tables) {
    out.error = tables.error();
  } else {
    out.tables = std::move(*tables);
    out.routes = check_routes(fabric, lids, out.tables.lft);
    if (!out.routes.ok()) {
      std::string why = "unverified tables: ";
      if (!out.routes.first_faults.empty()) why += out.routes.first_faults.front();
      if (!out.routes.acyclic) why += "credit loop " + print_cycle(fabric, out.routes.cycle);
      out.error = Error{Errc::Unsupported, engine + ": " + why};
    }
  }
  if (out.error && fallback && engine != "updn") {
    Routed second = compute_routed(fabric, lids, request, "updn", false);
    second.fallback_reason = out.error->context;
    return second;
  }
  if (!out.error) out.load = measure_load(fabric, lids, out.tables.lft);
  return out;
}

}  // namespace smd::app

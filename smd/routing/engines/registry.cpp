// A plain table: objects that register themselves would be dropped from a static library.

#include <algorithm>
#include <utility>

#include "smd/routing/engines/engines.h"

namespace smd {
namespace {

using Factory = const Engine& (*)();

constexpr Factory kEngines[] = {
    auto_engine,
    dfsssp_engine,
    dor_engine,
    dragonfly_engine,
    fera_engine,
    fera_flood_engine,
    ftree_engine,
    hamiltonian_engine,
    hamming_engine,
    itb_vl_engine,
    lash_engine,
    minhop_engine,
    nue_engine,
    pira_engine,
    updn_engine,
};

}  // namespace

// The one place that knows whose routes are in force.
Result<RoutingTables> Engine::compute(const Fabric& fabric,
                                      const LidMap& lids,
                                      const RoutingRequest& request) const {
  if (request.options.path_sets) return compute_path_sets(*this, fabric, lids, request);
  if (request.in_force != nullptr && request.in_force->routing->engine == name()) {
    if (auto updated = update(fabric, lids, request, *request.in_force)) return std::move(*updated);
  }
  return compute_new(fabric, lids, request);
}

std::vector<std::string_view> engine_names() {
  std::vector<std::string_view> names;
  for (const Factory engine : kEngines) names.push_back(engine().name());
  std::sort(names.begin(), names.end());
  return names;
}

std::string name_of_routes(std::string_view engine, const EngineOptions& options) {
  return (options.path_sets ? "updn+" : "") + std::string(engine);
}

const Engine* find_engine(std::string_view name) {
  for (const Factory engine : kEngines) {
    if (engine().name() == name) return &engine();
  }
  return nullptr;
}

}  // namespace smd

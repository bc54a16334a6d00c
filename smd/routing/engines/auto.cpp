// Asks other engines, the most particular ones first, and takes the first that accepts the fabric.
#include <fmt/format.h>

#include <string>
#include <utility>

#include "smd/routing/engines/engines.h"
#include "smd/routing/graph/switch_graph.h"
#include "smd/routing/updn/orientation_repair.h"

namespace smd {
namespace {

// Those that know a shape and refuse whatever is none look at little before they say so.
constexpr std::string_view kShapes[] = {"ftree", "dor", "hamming", "dragonfly"};

bool has_rings(const Fabric& fabric) {
  const SwitchGraph graph = SwitchGraph{fabric}.without_parallels();
  return graph.edge_count() / 2 + find_islands(graph).size() > graph.switches();
}

// Routes over a fabric most of which is new are not worth staying with.
bool is_mostly_known(const Fabric& fabric, const Fabric& before) {
  std::size_t known = 0;
  for (const NodeIdx node : fabric.switch_node)
    known += before.find_node(fabric.node_guid[node]).has_value() ? 1 : 0;
  return 2 * known >= fabric.switch_count();
}

struct Candidate {
  std::string_view engine;
  std::string_view because;
};

class Auto final : public Engine {
 public:
  std::string_view name() const override { return "auto"; }

  std::string_view contract() const override {
    return "Any fabric, by another engine: fat trees by ftree, meshes and tori by dor, flattened "
           "butterflies by hamming, dragonflies by dragonfly; of the rest those without rings by "
           "updn, which is shortest there, others by nue where there are two VLs, else by updn. "
           "The first that does not refuse makes the routes, with its own VLs, SLs and deadlock "
           "argument; notes say which and why. Stays with the engine that made the routes in force "
           "as long as that one does not refuse, unless most switches are new.";
  }

 private:
  Result<RoutingTables> compute_new(const Fabric& fabric,
                                    const LidMap& lids,
                                    const RoutingRequest& request) const override {
    std::string refusals;
    for (const Candidate& candidate : list_candidates(fabric, request)) {
      const Engine* const engine = find_engine(candidate.engine);
      if (engine == nullptr) continue;
      auto tables = engine->compute(fabric, lids, request);
      if (tables && !request.vl_changes && !tables->sl_to_vl.empty()) {
        refusals += fmt::format("; {}: its routes change lanes on the way", candidate.engine);
      } else if (tables) {
        tables->chosen_by = name();
        tables->notes.insert(
            tables->notes.begin(),
            fmt::format("auto: {}, {}{}", candidate.engine, candidate.because, refusals));
        return tables;
      } else {
        refusals += "; " + tables.error().context;
      }
    }
    return fail(Errc::Unsupported, "auto: every engine refuses" + refusals);
  }

  static std::vector<Candidate> list_candidates(const Fabric& fabric,
                                                const RoutingRequest& request) {
    std::vector<Candidate> candidates;
    std::string_view before;
    if (request.in_force != nullptr && is_mostly_known(fabric, *request.in_force->fabric))
      before = request.in_force->routing->engine;
    const auto add = [&](std::string_view engine, std::string_view because) {
      if (engine != before) candidates.push_back({engine, because});
    };
    if (!before.empty() && before != "auto")
      candidates.push_back({before, "which made the routes in force"});
    for (const std::string_view shape : kShapes) add(shape, "which knows this shape");
    if (!has_rings(fabric)) add("updn", "as there are no rings");
    const unsigned vls = request.max_vls == 0 ? count_common_vls(fabric) : request.max_vls;
    if (vls > 1) add("nue", "as no other shape is known");
    add("updn", "as it suits every fabric");
    return candidates;
  }
};

}  // namespace

const Engine& auto_engine() {
  static const Auto engine;
  return engine;
}

}  // namespace smd

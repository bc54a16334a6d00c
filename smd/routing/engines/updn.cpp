// up*/down*, in the two-phase form that a table without input ports allows.
#include <utility>

#include "smd/routing/engines/engines.h"
#include "smd/routing/keep/even_legal.h"
#include "smd/routing/keep/keep_routes.h"
#include "smd/routing/oriented_fabric.h"
#include "smd/routing/traffic.h"
#include "smd/routing/up_down.h"

namespace smd {
namespace {

class UpDown final : public Engine {
 public:
  std::string_view name() const override { return "updn"; }

  std::string_view contract() const override {
    return "up*/down* on any fabric, 1 VL, any SL. Every route climbs zero or more links towards "
           "the root, then descends; whoever can descend does. Of several shortest legal routes "
           "the one whose channel carries fewest paths, then the lowest port. Free of deadlock: "
           "number the channels, climbing ones from the leaves up, then descending ones from the "
           "root down; every route follows rising numbers. Complete: the root reaches everybody "
           "downwards. Not always minimal. Given the routes in force, keeps every entry that "
           "is still legal. Directions come from a breadth-first tree, or from a depth-first one, "
           "which forbids fewer turns on irregular fabrics. Source: the deadlock-free routing of "
           "Autonet, as FERa; depth first: Sancho, Robles and Duato, 2000.";
  }

  Result<RoutingTables> compute(const Fabric& fabric,
                                const LidMap& lids,
                                const RoutingRequest& request) const override {
    // Only this engine's own routes are known to be legal and spread.
    const PreviousRoutes* const in_force =
        request.in_force != nullptr && request.in_force->routing->engine == name()
            ? request.in_force
            : nullptr;
    const Orientation* const previous = request.previous == nullptr && in_force != nullptr
                                            ? &in_force->routing->orientation
                                            : request.previous;
    OrientedFabric oriented{fabric,
                            lids,
                            {.roots = request.roots,
                             .previous = previous,
                             .search = request.orientation_search,
                             .root_choice = request.root_choice}};
    apply_weights(fabric, request.weights, oriented.targets);
    if (in_force != nullptr) {
      if (auto kept = keep_routes(fabric, lids, oriented, *in_force, request)) {
        RoutingTables result = begin_tables(name(), std::move(kept->lft), oriented);
        result.recomputed = std::move(kept->recomputed);
        result.load = std::move(kept->load);
        return result;
      }
    }
    ForwardingTables lft{fabric.switch_count(), lids.top};
    LoadRecord load;
    UpDownSearch search{oriented.up_down};
    Spread spread{oriented.graph, oriented.targets, oriented.costs};
    NextHops hops;
    for (unsigned offset = 0; offset < 1u << highest_lmc(oriented.targets); ++offset) {
      spread.begin_offset();
      for (const SwitchIdx sw : oriented.targets.of.indices()) {
        if (oriented.targets.of[sw].empty()) continue;
        search.find(sw, hops);
        spread.serve(sw, hops, offset, lft);
      }
      if (offset == 0)
        load = record_legal_loads(oriented,
                                  list_destinations(oriented.targets, lids.top),
                                  {spread.loads().begin(), spread.loads().end()});
    }
    RoutingTables result = begin_tables(name(), std::move(lft), oriented);
    result.load = std::move(load);
    return result;
  }
};

}  // namespace

const Engine& updn_engine() {
  static const UpDown engine;
  return engine;
}

}  // namespace smd

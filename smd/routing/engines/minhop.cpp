// Shortest paths, balanced.
#include <utility>

#include "smd/routing/engines/engines.h"
#include "smd/routing/keep/even_shortest.h"
#include "smd/routing/keep/keep_shortest.h"
#include "smd/routing/shortest_paths.h"
#include "smd/routing/traffic.h"

namespace smd {
namespace {

class MinHop final : public Engine {
 public:
  std::string_view name() const override { return "minhop"; }

  std::string_view contract() const override {
    return "Shortest paths on any fabric, 1 VL, any SL; of several the one whose channel carries "
           "fewest paths, then the lowest port. Where that loads channels unevenly because few "
           "have a choice, five sixths of the switches' LIDs choose once more, knowing all others. "
           "No deadlock argument: on "
           "fabrics with rings (torus, dragonfly, most irregular ones) the tables have credit "
           "loops. On trees paths from switch to switch may close one: who takes the tables "
           "leads these elsewhere (lead_switches_apart). Check before use. Given "
           "the routes in force, keeps every entry that still is on a shortest path, unless the "
           "fullest channel would carry more than from scratch.";
  }

  Result<RoutingTables> compute(const Fabric& fabric,
                                const LidMap& lids,
                                const RoutingRequest& request) const override {
    const SwitchGraph graph{fabric};
    Targets targets = find_targets(fabric, lids);
    apply_weights(fabric, request.weights, targets);
    const std::vector<std::uint32_t> costs = find_link_costs(fabric, graph);
    // Other engines' routes need not be shortest ones.
    if (request.in_force != nullptr && request.in_force->routing->engine == name()) {
      if (auto kept = keep_shortest(fabric, lids, graph, targets, costs, *request.in_force)) {
        RoutingTables result{.engine = "minhop", .lft = std::move(kept->lft)};
        result.recomputed = std::move(kept->recomputed);
        result.load = std::move(kept->load);
        return result;
      }
    }
    RoutingTables result{.engine = "minhop", .lft = {fabric.switch_count(), lids.top}};
    const IndexVector<SwitchIdx, Guid> guids = list_switch_guids(fabric);
    const std::vector<Destination> destinations = list_destinations(targets, lids.top);
    Spread spread{graph, targets, costs};
    ShortestSearch search{graph};
    NextHops hops;
    for (unsigned offset = 0; offset < 1u << highest_lmc(targets); ++offset) {
      spread.begin_offset();
      for (const SwitchIdx sw : targets.of.indices()) {
        if (targets.of[sw].empty()) continue;
        search.find(sw, hops);
        spread.serve(sw, hops, offset, result.lft);
      }
      if (spread.is_worth_another_turn()) {
        // Who came first chose without knowing the rest.
        const std::size_t early = targets.of.size() - targets.of.size() / 6;
        for (const SwitchIdx sw : targets.of.indices()) {
          if (sw.value() >= early) break;
          if (targets.of[sw].empty()) continue;
          search.find(sw, hops);
          spread.serve_again(sw, hops, offset, result.lft);
        }
      }
      LoadRecord load = record_loads(
          guids, targets, costs, destinations, {spread.loads().begin(), spread.loads().end()});
      if (load.evenness.peak > result.load.evenness.peak) result.load = std::move(load);
    }
    return result;
  }
};

}  // namespace

const Engine& minhop_engine() {
  static const MinHop engine;
  return engine;
}

}  // namespace smd

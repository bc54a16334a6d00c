// Shortest paths, balanced.
#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "smd/routing/engines/engines.h"
#include "smd/routing/graph/switch_graph.h"
#include "smd/routing/incremental/rebalance_shortest.h"
#include "smd/routing/incremental/update_shortest.h"
#include "smd/routing/trees/load_balancer.h"
#include "smd/routing/trees/rebalance.h"

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
           "fullest channel would carry more than from scratch; of paths that were led elsewhere, "
           "those to switches without hosts, as long as their links are there.";
  }

 private:
  struct Problem {
    Problem(const Fabric& fabric, const LidMap& lids)
        : graph(fabric),
          targets(find_targets(fabric, lids)),
          costs(find_link_costs(fabric, graph)) {}

    SwitchGraph graph;
    Targets targets;
    std::vector<std::uint32_t> costs;  // by edge
  };

  std::optional<Result<RoutingTables>> update(const Fabric& fabric,
                                              const LidMap& lids,
                                              const RoutingRequest& request,
                                              const PreviousRoutes& previous) const override {
    const Problem on{fabric, lids};
    auto updated =
        update_shortest(fabric, lids, on.graph, on.targets, on.costs, previous, request.rebalance);
    if (!updated) return std::nullopt;
    RoutingTables result{.engine = "minhop", .lft = std::move(updated->lft)};
    result.recomputed = std::move(updated->recomputed);
    result.load = std::move(updated->load);
    return result;
  }

  Result<RoutingTables> compute_new(const Fabric& fabric,
                                    const LidMap& lids,
                                    const RoutingRequest& /*request*/) const override {
    const Problem on{fabric, lids};
    RoutingTables result{.engine = "minhop", .lft = {fabric.switch_count(), lids.top}};
    const IndexVector<SwitchIdx, Guid> guids = list_switch_guids(fabric);
    const std::vector<Destination> destinations = list_destinations(on.targets, lids.top);
    const std::vector<SwitchIdx> served = list_served_switches(on.targets);
    const std::size_t early = on.targets.of.size() - on.targets.of.size() / 6;
    const auto late = std::ranges::find_if(served, [&](auto sw) { return sw.value() >= early; });
    LoadBalancer balancer{on.graph, on.targets, on.costs};
    ShortestSearch search{on.graph};
    const auto find = [&](SwitchIdx sw, NextHops& hops) { search.find(sw, hops); };
    bool uneven = false;
    assign_offsets(balancer, on.targets, served, result.lft, find, [&](unsigned offset) {
      if (balancer.is_worth_second_pass())
        assign_again(balancer, {served.begin(), late}, offset, result.lft, find);
      uneven = uneven || is_uneven(on.graph, on.targets, on.costs, balancer.loads());
      LoadRecord load = record_loads(guids,
                                     on.targets,
                                     on.costs,
                                     destinations,
                                     {balancer.loads().begin(), balancer.loads().end()});
      if (load.imbalance.peak > result.load.imbalance.peak) result.load = std::move(load);
    });
    if (!uneven) return result;
    // Destination by destination nobody knows of those that follow; now all are known.
    const Imbalance before = std::exchange(result.load.imbalance, {});
    auto evened = update_shortest(
        fabric, lids, on.graph, on.targets, on.costs, {&fabric, &lids, &result}, true);
    result.load.imbalance = before;
    if (!evened) return result;
    result.lft = std::move(evened->lft);
    result.load = std::move(evened->load);
    return result;
  }
};

}  // namespace

const Engine& minhop_engine() {
  static const MinHop engine;
  return engine;
}

}  // namespace smd

// Shortest paths, balanced.
#include <vector>

#include "smd/routing/engines/engines.h"
#include "smd/routing/spread.h"

namespace smd {
namespace {

class MinHop final : public Engine {
 public:
  std::string_view name() const override { return "minhop"; }

  std::string_view contract() const override {
    return "Shortest paths on any fabric, 1 VL, any SL; of several the one whose channel carries "
           "fewest paths, then the lowest port. No deadlock argument: on fabrics with rings "
           "(torus, dragonfly, most irregular ones) the tables have credit loops, on fat trees "
           "they have none unless links are missing. Check before use.";
  }

  Result<RoutingTables> compute(const Fabric& fabric,
                                const LidMap& lids,
                                const RoutingRequest&) const override {
    const SwitchGraph graph{fabric};
    const Targets targets = find_targets(fabric, lids);
    RoutingTables result{.engine = "minhop", .lft = {fabric.switch_count(), lids.top}};
    Spread spread{graph, targets};
    NextHops hops;
    for (unsigned offset = 0; offset < 1u << highest_lmc(targets); ++offset) {
      spread.begin_offset();
      for (const SwitchIdx sw : targets.of.indices()) {
        if (targets.of[sw].empty()) continue;
        find_shortest(graph, sw, hops);
        spread.serve(sw, hops, offset, result.lft);
      }
    }
    return result;
  }

 private:
  static void find_shortest(const SwitchGraph& graph, SwitchIdx destination, NextHops& hops) {
    std::vector<SwitchIdx> near_to_far{destination};
    IndexVector<SwitchIdx, std::uint32_t> distance(graph.switches(), kUnreached);
    distance[destination] = 0;
    for (std::size_t at = 0; at < near_to_far.size(); ++at) {
      for (const SwitchEdge& edge : graph.edges(near_to_far[at])) {
        if (distance[edge.to] != kUnreached) continue;
        distance[edge.to] = distance[near_to_far[at]] + 1;
        near_to_far.push_back(edge.to);
      }
    }
    hops.clear();
    for (std::size_t at = near_to_far.size(); --at > 0;) {
      const SwitchIdx sw = near_to_far[at];
      hops.order.push_back(sw);
      std::uint32_t position = graph.first_edge(sw);
      for (const SwitchEdge& edge : graph.edges(sw)) {
        if (distance[edge.to] + 1 == distance[sw]) hops.edges.push_back(position);
        ++position;
      }
      hops.close();
    }
  }
};

}  // namespace

const Engine& minhop_engine() {
  static const MinHop engine;
  return engine;
}

}  // namespace smd

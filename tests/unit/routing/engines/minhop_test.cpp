// How evenly shortest paths are spread, and that what is counted while they are chosen is what the
// tables say in the end.
#include <gtest/gtest.h>

#include <map>

#include "smd/routing/graph/switch_graph.h"
#include "smd/routing/trees/load_balancer.h"
#include "smd/routing/verify/channel_load.h"
#include "smd/routing/verify/check_routes.h"
#include "tests/unit/routing/support/generated.h"

namespace smd::test {
namespace minhop_test {

double heaviest_over_mean(const std::string& call) {
  const Generated g = generated(call);
  const LoadReport load = measure_load(g.fabric, g.lids, compute("minhop", g.fabric, g.lids).lft);
  return static_cast<double>(load.max) / load.mean;
}

// The means are those of shortest paths, whoever chooses them; nobody can do better than 1.
TEST(Minhop, NoChannelCarriesMuchMoreThanTheOthers) {
  EXPECT_LE(heaviest_over_mean("fat-tree:k=8,levels=3"), 1.06);
  EXPECT_LE(heaviest_over_mean("torus:dims=16.16,hosts=4"), 1.5);
  EXPECT_LE(heaviest_over_mean("torus:dims=8.8.8,hosts=4"), 1.65);
  EXPECT_LE(heaviest_over_mean("dragonfly:a=8,c=4,h=4"), 1.6);
  EXPECT_LE(heaviest_over_mean("irregular:switches=250,ports=16,links=8,hosts=8"), 1.4);
}

/// Sum of squared loads, path by path: hosts of every switch, each by what the LID draws.
double squares_by_walking(const Targets& targets,
                          const std::vector<std::uint32_t>& costs,
                          const SwitchGraph& graph,
                          const ForwardingTables& tables) {
  std::map<std::uint32_t, std::uint64_t> loads;  // by edge
  for (const SwitchIdx destination : targets.of.indices()) {
    for (const Target& target : targets.of[destination]) {
      if (!target.host) continue;
      for (const SwitchIdx source : targets.of.indices()) {
        for (SwitchIdx at = source; at != destination;) {
          std::uint32_t edge = graph.first_edge(at);
          while (graph.edge(edge).port != tables.route(at, target.base)) ++edge;
          loads[edge] += std::uint64_t{targets.hosts[source]} * target.demand * costs[edge];
          at = graph.edge(edge).to;
        }
      }
    }
  }
  double sum = 0;
  for (const auto& [edge, load] : loads)
    sum += static_cast<double>(load) * static_cast<double>(load);
  return sum;
}

struct Served {
  Generated g;
  SwitchGraph graph{g.fabric};
  Targets targets = find_targets(g.fabric, g.lids);
  std::vector<std::uint32_t> costs = find_link_costs(g.fabric, graph);
  ForwardingTables tables{g.fabric.switch_count(), g.lids.top};
  ShortestSearch search{graph};
  NextHops hops;

  void serve_all(LoadBalancer& balancer, bool again) {
    for (const SwitchIdx sw : targets.of.indices()) {
      if (targets.of[sw].empty()) continue;
      search.find(sw, hops);
      again ? balancer.assign_again(sw, hops, 0, tables) : balancer.assign(sw, hops, 0, tables);
    }
  }
};

TEST(LoadBalancer, CountsWhatTheTablesSayHoweverOftenTheyAreServed) {
  for (const char* const call : {"dragonfly:a=4,c=2,h=2",
                                 "torus:dims=5.4,hosts=3",
                                 "fat-tree:k=6,levels=3",
                                 "torus:dims=7",
                                 "irregular:switches=30,links=5,hosts=3,seed=4"}) {
    Served on{.g = generated(call)};
    // Some draw more, some nothing.
    std::uint32_t demand = 0;
    for (const SwitchIdx sw : on.targets.of.indices()) {
      for (Target& target : on.targets.of[sw]) target.demand = demand++ % 3;
    }
    for (std::size_t edge = 0; edge < on.costs.size(); ++edge)
      on.costs[edge] = static_cast<std::uint32_t>(1 + edge % 2);
    LoadBalancer balancer{on.graph, on.targets, on.costs};
    for (const bool again : {false, true, true}) {
      on.serve_all(balancer, again);
      EXPECT_DOUBLE_EQ(balancer.sum_of_squares(),
                       squares_by_walking(on.targets, on.costs, on.graph, on.tables))
          << call << (again ? " again" : "");
    }
    EXPECT_TRUE(
        check_routes(on.g.fabric, on.g.lids, on.tables, {.minimality = false}).unreachable == 0);
  }
}

bool pays(const char* call) {
  Served on{.g = generated(call)};
  LoadBalancer balancer{on.graph, on.targets};
  on.serve_all(balancer, false);
  return balancer.is_worth_second_pass();
}

TEST(LoadBalancer, AnotherTurnPaysWhereAChannelCarriesAQuarterMore) {
  // From each of n switches in a row to all others: cable i carries i · (n - i) each way, and
  // nobody has a choice.
  EXPECT_FALSE(pays("torus:dims=4,hosts=1,mesh=1")) << "4 over 10 / 3";
  EXPECT_FALSE(pays("torus:dims=5,hosts=1,mesh=1")) << "6 over 5";
  EXPECT_TRUE(pays("torus:dims=9,hosts=1,mesh=1")) << "20 over 15";
}

TEST(LoadBalancer, AnotherTurnPaysWhereManyHaveNoChoice) {
  EXPECT_TRUE(pays("dragonfly:a=8,c=4,h=4"));
  EXPECT_TRUE(pays("irregular:switches=250,ports=16,links=8,hosts=8"));
  EXPECT_FALSE(pays("torus:dims=8.8.8,hosts=1")) << "one in 25 has none";
}

TEST(LoadBalancer, ChannelsThatNobodyUsesDoNotCount) {
  const Fabric f = fabric_from("S1-S2 S1-S3 S3-S4 S4-S5 S1-H1 S2-H2");
  const SwitchGraph graph{f};
  const LidMap lids = lids_in_order(f);
  const Targets targets = find_targets(f, lids);
  ForwardingTables tables{f.switch_count(), lids.top};
  LoadBalancer balancer{graph, targets};
  ShortestSearch search{graph};
  NextHops hops;
  for (const SwitchIdx sw : targets.of.indices()) {
    search.find(sw, hops);
    balancer.assign(sw, hops, 0, tables);
  }
  EXPECT_FALSE(balancer.is_worth_second_pass()) << "one path from S1 to S2, one back";
}

}  // namespace minhop_test
}  // namespace smd::test

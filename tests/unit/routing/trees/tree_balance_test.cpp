#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "smd/fabric/builder.h"
#include "smd/routing/graph/switch_graph.h"
#include "smd/routing/trees/tree_balance.h"
#include "smd/routing/updn/up_down.h"
#include "smd/routing/verify/check_routes.h"
#include "tests/unit/routing/support/generated.h"

namespace smd::test {
namespace tree_balance_test {

using ::testing::Each;
using ::testing::ElementsAre;

// Loads by edge, recounted path by path.
std::vector<std::uint64_t> count_loads(const SwitchGraph& graph,
                                       const Demand& demand,
                                       const SwitchTrees& trees) {
  std::vector<std::uint64_t> loads(graph.edge_count(), 0);
  for (const SwitchIdx to : demand.sends.indices()) {
    for (const SwitchIdx from : demand.sends.indices()) {
      for (SwitchIdx at = from; at != to && trees.edge(to, at) != kNoEdge;
           at = graph.edge(trees.edge(to, at)).to)
        loads[trees.edge(to, at)] += std::uint64_t{demand.sends[from]} * demand.receives[to];
    }
  }
  return loads;
}

std::uint64_t sum_squares(const std::vector<std::uint64_t>& loads,
                          const std::vector<std::uint32_t>& costs) {
  std::uint64_t sum = 0;
  for (std::size_t i = 0; i < loads.size(); ++i) sum += loads[i] * loads[i] * costs[i];
  return sum;
}

class Balance : public ::testing::Test {
 protected:
  explicit Balance(const std::string& call = "irregular:switches=24,hosts=3,seed=4")
      : g(generated(call)),
        graph(g.fabric),
        demand(find_demand(find_targets(g.fabric, g.lids))),
        costs(graph.edge_count(), 1),
        search(graph),
        find([this](SwitchIdx to, NextHops& hops) { search.find(to, hops); }),
        trees(graph.switches()) {}

  const Generated g;
  const SwitchGraph graph;
  Demand demand;
  std::vector<std::uint32_t> costs;
  ShortestSearch search;
  TreeBalance::FindHops find;
  SwitchTrees trees;
};

TEST_F(Balance, EndsWhereNoBranchCanMoveForTheBetter) {
  // Uneven on purpose: some switches send more, some draw more, some cables are slow.
  for (const SwitchIdx sw : demand.sends.indices()) {
    demand.sends[sw] = 1 + sw.value() % 4;
    demand.receives[sw] = sw.value() % 3;
  }
  for (std::size_t edge = 0; edge < costs.size(); ++edge) costs[edge] = 1 + edge % 2;
  TreeBalance balance{graph, demand, costs};
  balance.fill(find, trees);
  const std::uint64_t filled = sum_squares(count_loads(graph, demand, trees), costs);
  balance.improve(find, trees);
  const std::uint64_t improved = sum_squares(count_loads(graph, demand, trees), costs);
  EXPECT_LT(improved, filled);

  NextHops hops;
  for (const SwitchIdx to : demand.sends.indices()) {
    search.find(to, hops);
    for (std::size_t i = 0; i < hops.order.size(); ++i) {
      const SwitchIdx sw = hops.order[i];
      const std::uint32_t chosen = trees.edge(to, sw);
      for (std::uint32_t at = hops.first[i]; at < hops.first[i + 1]; ++at) {
        trees.set_edge(to, sw, hops.edges[at]);
        EXPECT_GE(sum_squares(count_loads(graph, demand, trees), costs), improved);
      }
      trees.set_edge(to, sw, chosen);
    }
  }
}

TEST_F(Balance, MeasuresWhatARecountFinds) {
  TreeBalance balance{graph, demand, costs};
  balance.fill(find, trees);
  balance.improve(find, trees);
  const std::vector<std::uint64_t> loads = count_loads(graph, demand, trees);
  const BalanceReport report = balance.measure();
  EXPECT_EQ(report.max, std::ranges::max(loads));
  double mean = 0, squares = 0;
  for (const std::uint64_t load : loads) mean += double(load) / double(loads.size());
  for (const std::uint64_t load : loads)
    squares += (double(load) - mean) * (double(load) - mean) / double(loads.size());
  EXPECT_NEAR(report.mean, mean, 1e-6);
  EXPECT_NEAR(report.stddev * report.stddev, squares, 1e-3);
}

TEST_F(Balance, EveryPathIsAShortestOne) {
  TreeBalance balance{graph, demand, costs};
  balance.fill(find, trees);
  balance.improve(find, trees);
  for (const SwitchIdx to : demand.sends.indices()) {
    const auto distance = compute_distances(graph, {&to, 1});
    for (const SwitchIdx at : demand.sends.indices()) {
      if (at == to) {
        EXPECT_EQ(trees.edge(to, at), kNoEdge);
      } else {
        EXPECT_EQ(distance[graph.edge(trees.edge(to, at)).to] + 1, distance[at]);
      }
    }
  }
}

TEST_F(Balance, LeavesAloneWhatIsNotToMove) {
  TreeBalance balance{graph, demand, costs};
  balance.fill(find, trees);
  const SwitchTrees filled = trees;
  std::vector<char> movable(graph.switches() * graph.switches(), 0);
  balance.improve(find, trees, &movable);
  EXPECT_EQ(trees, filled);

  const SwitchIdx free{5};
  for (std::size_t at = 0; at < graph.switches(); ++at)
    movable[free.value() * graph.switches() + at] = 1;
  balance.improve(find, trees, &movable);
  EXPECT_NE(trees, filled);
  for (const SwitchIdx to : demand.sends.indices()) {
    for (const SwitchIdx at : demand.sends.indices()) {
      if (to != free) {
        EXPECT_EQ(trees.edge(to, at), filled.edge(to, at));
      }
    }
  }
}

TEST_F(Balance, StopsWhenTheBudgetIsSpent) {
  TreeBalance balance{graph, demand, costs};
  balance.fill(find, trees);
  SwitchTrees some = trees;
  balance.improve(find, some, nullptr, 1);
  for (std::uint32_t to = 1; to < graph.switches(); ++to) {
    for (const SwitchIdx at : demand.sends.indices())
      EXPECT_EQ(some.edge(SwitchIdx{to}, at), trees.edge(SwitchIdx{to}, at)) << "only one tree";
  }
}

TEST_F(Balance, EdgesThatAreSetCountAndStay) {
  SwitchTrees set{graph.switches()};
  NextHops hops;
  search.find(SwitchIdx{0}, hops);
  for (std::size_t i = 0; i < hops.order.size(); ++i)
    set.set_edge(SwitchIdx{0}, hops.order[i], hops.edges[hops.first[i + 1] - 1]);
  trees = set;
  TreeBalance balance{graph, demand, costs};
  balance.fill(find, trees);
  for (const SwitchIdx at : demand.sends.indices())
    EXPECT_EQ(trees.edge(SwitchIdx{0}, at), set.edge(SwitchIdx{0}, at));
  EXPECT_EQ(balance.measure().max, std::ranges::max(count_loads(graph, demand, trees)));
}

TEST_F(Balance, WorksOnUpDownPathsToo) {
  IndexVector<SwitchIdx, Guid> guids;
  for (const NodeIdx n : g.fabric.switch_node) guids.push_back(g.fabric.node_guid[n]);
  const SwitchIdx root{0};
  const UpDownGraph oriented{graph, compute_distances(graph, {&root, 1}), guids};
  UpDownSearch legal{oriented};
  const auto find_legal = [&](SwitchIdx to, NextHops& hops) { legal.find(to, hops); };
  TreeBalance balance{graph, demand, costs};
  balance.fill(find_legal, trees);
  const BalanceReport before = balance.measure();
  balance.improve(find_legal, trees);
  EXPECT_LT(balance.measure().stddev, before.stddev);
  EXPECT_DOUBLE_EQ(balance.measure().mean, before.mean);
}

TEST(BalanceReport, IsPrintedWithTheShareOfTheMean) {
  EXPECT_EQ(print_balance({.max = 80, .mean = 61.25, .stddev = 8.1}),
            "channel load: mean 61.2, standard deviation 8.1 (0.13 of the mean), highest 80");
  EXPECT_EQ(print_balance({}),
            "channel load: mean 0.0, standard deviation 0.0 (0.00 of the mean), highest 0");
}

// The fabric with weights of its hosts, in the order of their GUIDs.
Fabric weighed(const Fabric& f,
               std::initializer_list<std::pair<const char*, std::uint32_t>> hosts) {
  SiteNodes rules;
  for (const auto& [host, weight] : hosts)
    rules.weights.emplace_back(f.port_guid[end_port(f, host)], weight);
  return *with_traffic(f, std::make_shared<const SiteNodes>(std::move(rules)));
}

TEST(Demand, CountsEndPortsAndWhatTheyDraw) {
  const Fabric bare_of_rules = fabric_from("S1-S2 S2-S3 H1-S1 H2-S1 H3-S2");
  const Fabric f = weighed(bare_of_rules, {{"H1", 5}, {"H3", 0}});
  const Demand demand = find_demand(find_targets(f, lids_in_order(f)));
  EXPECT_THAT(demand.sends.raw(), ElementsAre(2u, 0u, 0u));
  EXPECT_THAT(demand.receives.raw(), ElementsAre(6u, 0u, 0u));

  const Fabric bare = fabric_from("S1-S2 S2-S3");
  const Demand each = find_demand(find_targets(bare, lids_in_order(bare)));
  EXPECT_THAT(each.sends.raw(), ElementsAre(1u, 1u, 1u));
  EXPECT_THAT(each.receives.raw(), ElementsAre(1u, 1u, 1u));
}

TEST(Weights, AHeavyHostGetsAWayOfItsOwn) {
  //  S1 reaches S2 over S3 and S4. H2 draws as much as the three others together.
  const Fabric f =
      weighed(fabric_from("S1-S3 S1-S4 S2-S3 S2-S4 S1-H1 S2-H2 S2-H3 S2-H4 S2-H5"), {{"H2", 3}});
  const LidMap lids = lids_in_order(f);
  for (const char* engine : {"minhop", "updn"}) {
    const RoutingTables tables = compute(engine, f, lids);
    const unsigned heavy = egress_of(f, lids, tables.lft, "S1", "H2");
    for (const char* host : {"H3", "H4", "H5"})
      EXPECT_NE(egress_of(f, lids, tables.lft, "S1", host), heavy) << engine;
  }
}

TEST(Weights, AHeavyHostGetsOneOfManyCablesForItself) {
  const Fabric f = weighed(
      fabric_from(
          "S1:1-S2:1 S1:2-S2:2 S1:3-S2:3 S1:4-S2:4 S1-H1 S2-H2 S2-H3 S2-H4 S2-H5 S2-H6 S2-H7"),
      {{"H2", 3}});
  const LidMap lids = lids_in_order(f);
  for (const char* engine : {"minhop", "updn"}) {
    const RoutingTables tables = compute(engine, f, lids);
    const unsigned heavy = egress_of(f, lids, tables.lft, "S1", "H2");
    for (const char* host : {"H3", "H4", "H5", "H6", "H7"})
      EXPECT_NE(egress_of(f, lids, tables.lft, "S1", host), heavy) << engine;
  }
}

//  S1 reaches S4 over S2 and over S3, and each of these over the one cable that there is.
constexpr const char* kDiamond = "S1:1-S2:1 S1:2-S3:1 S2:2-S4:1 S3:2-S4:2 S1-H1 S2-H2 S3-H3 S4-H4";

TEST(Weights, CountOnWaysWithoutAChoiceToo) {
  const Fabric f = weighed(fabric_from(kDiamond), {{"H2", 9}});
  const LidMap lids = lids_in_order(f);
  const Fabric even = fabric_from(kDiamond);
  EXPECT_EQ(egress_of(even, lids, compute("minhop", even, lids).lft, "S1", "H4"), 1u);
  EXPECT_EQ(egress_of(f, lids, compute("minhop", f, lids).lft, "S1", "H4"), 2u);
}

TEST(Weights, CountAmongTheSecondLidsOfPortsToo) {
  //  First LIDs: H2, H3 and H4 take the cables 1, 2 and 3. Second ones: H2's takes 2, H3's, which
  //  draws most, 1; to H4's, which may have either, 2 is the lighter.
  const Fabric f =
      weighed(fabric_from("S1:1-S2:1 S1:2-S2:2 S1:3-S2:3 S1-H1 S2-H2 S2-H3 S2-H4"), {{"H3", 9}});
  const LidMap lids = lids_in_order(f, 1);
  const RoutingTables tables = compute("minhop", f, lids);
  const auto exits = [&](const char* host) {
    const unsigned base = lids.base[end_port(f, host)].value();
    const auto egress = [&](unsigned lid) {
      return tables.lft.route(switch_named(f, "S1"), Lid{static_cast<std::uint16_t>(lid)}).value();
    };
    return std::pair{egress(base), egress(base + 1)};
  };
  EXPECT_EQ(exits("H2"), (std::pair{std::uint8_t{1}, std::uint8_t{2}}));
  EXPECT_EQ(exits("H3"), (std::pair{std::uint8_t{2}, std::uint8_t{1}}));
  EXPECT_EQ(exits("H4"), (std::pair{std::uint8_t{3}, std::uint8_t{2}}));
}

TEST(Weights, AnIoNodeThatDoesNotCountLeavesTheRestEven) {
  //  H2 draws nothing that counts: H3 and H4 get a way each, whatever its own is.
  const Fabric f =
      weighed(fabric_from("S1-S3 S1-S4 S2-S3 S2-S4 S1-H1 S2-H2 S2-H3 S2-H4"), {{"H2", 0}});
  const LidMap lids = lids_in_order(f);
  for (const char* engine : {"minhop", "updn"}) {
    const RoutingTables tables = compute(engine, f, lids);
    EXPECT_NE(egress_of(f, lids, tables.lft, "S1", "H3"),
              egress_of(f, lids, tables.lft, "S1", "H4"))
        << engine;
  }
}

// The text's links, some of them at another speed.
Fabric with_speed(Fabric f, std::initializer_list<const char*> ports, LinkSpeed speed) {
  for (const PortIdx p : f.peer.indices()) {
    f.port_info[p].link_width_active = static_cast<std::uint8_t>(LinkWidth::X4);
    f.port_info[p].link_speed_ext_active = speed_codes(LinkSpeed::Edr).ext;
  }
  for (const char* name : ports) {
    const PortIdx p = port(f, name);
    f.port_info[p].link_speed_ext_active = speed_codes(speed).ext;
    f.port_info[f.peer[p]].link_speed_ext_active = speed_codes(speed).ext;
  }
  return f;
}

TEST(LinkCosts, AreTheTimeThatAPathTakes) {
  const Fabric f = fabric_from("S1:1-S2:1 S1:2-S2:2 S1:3-S2:3");
  EXPECT_THAT(find_link_costs(f, SwitchGraph{f}), Each(1u)) << "nothing known";
  const Fabric even = with_speed(f, {}, LinkSpeed::Edr);
  EXPECT_THAT(find_link_costs(even, SwitchGraph{even}), Each(1u));
  const Fabric mixed = with_speed(f, {"S1:2"}, LinkSpeed::Hdr);
  EXPECT_THAT(find_link_costs(mixed, SwitchGraph{mixed}),
              ElementsAre(32u, 16u, 32u, 32u, 16u, 32u));
}

TEST(LinkCosts, AFasterCableTakesMore) {
  const Fabric f =
      with_speed(fabric_from("S1:1-S2:1 S1:2-S2:2 S1-H1 S2-H2 S2-H3 S2-H4 S2-H5 S2-H6 S2-H7"),
                 {"S1:2"},
                 LinkSpeed::Hdr);
  const LidMap lids = lids_in_order(f);
  for (const char* engine : {"minhop", "updn", "itb-vl"}) {
    const RoutingTables tables = compute(engine, f, lids);
    std::map<unsigned, unsigned> used;
    for (const char* host : {"H2", "H3", "H4", "H5", "H6", "H7"})
      ++used[egress_of(f, lids, tables.lft, "S1", host)];
    EXPECT_THAT(used, ElementsAre(std::pair{1u, 2u}, std::pair{2u, 4u})) << engine;
  }
}

TEST(LinkCosts, CountOnWaysWithoutAChoiceToo) {
  const Fabric f = fabric_from(kDiamond);
  const Fabric slow = with_speed(f, {"S1:1"}, LinkSpeed::Fdr);
  const LidMap lids = lids_in_order(f);
  EXPECT_EQ(egress_of(f, lids, compute("minhop", f, lids).lft, "S1", "H4"), 1u);
  EXPECT_EQ(egress_of(slow, lids, compute("minhop", slow, lids).lft, "S1", "H4"), 2u);
}

}  // namespace tree_balance_test
}  // namespace smd::test

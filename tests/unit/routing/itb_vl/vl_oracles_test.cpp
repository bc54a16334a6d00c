// How many lanes and SLs shortest paths need, and how even in-trees can be made: measured elsewhere
// on the networks of Flich's thesis (2001).
#include <gtest/gtest.h>

#include "smd/base/rng.h"
#include "smd/routing/graph/switch_graph.h"
#include "smd/routing/itb_vl/sl_tables.h"
#include "smd/routing/trees/tree_balance.h"
#include "smd/routing/verify/check_routes.h"
#include "tests/unit/routing/support/generated.h"

namespace smd::test {
namespace vl_oracles_test {

unsigned count_sls(const Generated& g, const RoutingTables& tables) {
  unsigned most = 0;
  if (tables.path_sls.empty()) return 1;
  for (const SwitchIdx sw : g.fabric.switch_node.indices()) {
    for (unsigned lid = 1; lid <= g.lids.top.value(); ++lid)
      most = std::max<unsigned>(most, tables.path_sls.sl(sw, Lid{static_cast<std::uint16_t>(lid)}));
  }
  return most + 1;
}

struct Need {
  std::string call;
  unsigned vls, sls;
};

void PrintTo(const Need& row, std::ostream* os) { *os << row.call; }

class LanesNeeded : public ::testing::TestWithParam<Need> {};

TEST_P(LanesNeeded, AreNoMoreThanMeasuredElsewhere) {
  const Generated g = generated(GetParam().call);
  RoutingRequest request;
  for (const char* root : {"sw-0", "sw-0-0"}) {
    for (const NodeIdx n : g.fabric.switch_node) {
      if (g.fabric.description[n] == root) request.options.roots = {g.fabric.node_guid[n]};
    }
  }
  request.max_vls = 8;
  const RoutingTables tables = compute("itb-vl", g.fabric, g.lids, request);
  ASSERT_EQ(tables.engine, "itb-vl");
  const RouteReport report = check_routes(g.fabric, g.lids, tables);
  EXPECT_TRUE(report.ok());
  EXPECT_EQ(report.minimal, report.pairs);
  EXPECT_LE(tables.vls, GetParam().vls);
  EXPECT_EQ(report.vls, tables.vls);
  EXPECT_LE(count_sls(g, tables), GetParam().sls);
}

std::string irregular_call(unsigned switches, unsigned seed) {
  return "irregular:links=4,hosts=0,switches=" + std::to_string(switches) +
         ",seed=" + std::to_string(seed);
}

INSTANTIATE_TEST_SUITE_P(Networks,
                         LanesNeeded,
                         ::testing::Values(Need{irregular_call(64, 1), 3, 9},
                                           Need{irregular_call(64, 2), 3, 9},
                                           Need{irregular_call(64, 3), 3, 9},
                                           Need{irregular_call(128, 1), 4, 16},
                                           Need{irregular_call(128, 2), 4, 16},
                                           Need{irregular_call(128, 3), 4, 16},
                                           Need{"torus:dims=8.8,hosts=0", 4, 13},
                                           Need{"express-torus:dims=8.8,hosts=0", 3, 5},
                                           Need{"cplant:hosts=0", 3, 4}));

// In-trees for the shortest paths, every next hop drawn at random.
SwitchTrees draw_trees(const SwitchGraph& graph, std::uint64_t seed) {
  SwitchTrees trees{graph.switches()};
  ShortestSearch search{graph};
  NextHops hops;
  Rng rng{seed};
  for (SwitchIdx to{0}; to.value() < graph.switches(); to = next(to)) {
    search.find(to, hops);
    for (std::size_t i = 0; i < hops.order.size(); ++i) {
      const std::uint32_t edges = hops.first[i + 1] - hops.first[i];
      trees.set_edge(to,
                     hops.order[i],
                     hops.edges[hops.first[i] + static_cast<std::uint32_t>(rng.below(edges))]);
    }
  }
  return trees;
}

struct Imbalance {
  const char* call;
  double random, balanced, balancer;
};

void PrintTo(const Imbalance& row, std::ostream* os) { *os << row.call; }

class Balance : public ::testing::TestWithParam<Imbalance> {};

TEST_P(Balance, MakesRandomTreesEven) {
  const Generated g = generated(GetParam().call);
  const SwitchGraph graph{g.fabric};
  const Demand each{.sends = IndexVector<SwitchIdx, std::uint32_t>(graph.switches(), 1),
                    .receives = IndexVector<SwitchIdx, std::uint32_t>(graph.switches(), 1)};
  TreeBalance balance{graph, each, std::vector<std::uint32_t>(graph.edge_count(), 1)};
  ShortestSearch search{graph};
  const auto find = [&](SwitchIdx to, NextHops& hops) { search.find(to, hops); };
  constexpr unsigned kDraws = 5;
  double random = 0, balanced = 0;
  for (unsigned draw = 1; draw <= kDraws; ++draw) {
    SwitchTrees trees = draw_trees(graph, draw);
    balance.fill(find, trees);
    const BalanceReport before = balance.measure();
    balance.improve(find, trees);
    const BalanceReport after = balance.measure();
    EXPECT_NEAR(after.mean, before.mean, 1e-9) << "no path got longer";
    random += before.stddev / before.mean / kDraws;
    balanced += after.stddev / after.mean / kDraws;
  }
  EXPECT_NEAR(random, GetParam().random, GetParam().balancer);
  EXPECT_LT(balanced, GetParam().balanced + 0.005);
}

INSTANTIATE_TEST_SUITE_P(
    Networks,
    Balance,
    ::testing::Values(Imbalance{"irregular:switches=64,hosts=0,seed=1", 0.24, 0.13, 0.05},
                      Imbalance{"irregular:switches=64,hosts=0,seed=2", 0.24, 0.13, 0.05},
                      Imbalance{"torus:dims=8.8,hosts=0", 0.19, 0.01, 0.04},
                      Imbalance{"cplant:hosts=0", 0.33, 0.09, 0.05}));

// One lane from end to end, the same in both directions of a pair.
struct Layers {
  std::string call;
  unsigned layers;
};

void PrintTo(const Layers& row, std::ostream* os) { *os << row.call; }

class WholePathLayers : public ::testing::TestWithParam<Layers> {};

TEST_P(WholePathLayers, AreNoMoreThanMeasuredElsewhere) {
  const Generated g = generated(GetParam().call);
  const SwitchGraph graph{g.fabric};
  SwitchTrees trees{graph.switches()};
  ShortestSearch search{graph};
  const auto find = [&](SwitchIdx to, NextHops& hops) { search.find(to, hops); };
  TreeBalance balance{graph,
                      find_demand(find_targets(g.fabric, g.lids)),
                      std::vector<std::uint32_t>(graph.edge_count(), 1)};
  balance.fill(find, trees);
  balance.improve(find, trees);
  SlLayers placer{graph, 15};
  PairSls sls{graph.switches()};
  const auto pairs = list_pairs(graph, trees, nullptr);
  EXPECT_TRUE(allocate_sls(graph, trees, pairs, nullptr, true, placer, sls).empty());
  unsigned most = 0;
  for (const Pair& pair : pairs) most = std::max<unsigned>(most, sls.sl(pair.a, pair.b));
  EXPECT_LE(most + 1, GetParam().layers + 1);
}

INSTANTIATE_TEST_SUITE_P(Networks,
                         WholePathLayers,
                         ::testing::Values(Layers{irregular_call(64, 1), 7},
                                           Layers{irregular_call(128, 1), 13},
                                           Layers{"torus:dims=8.8,hosts=0", 9},
                                           Layers{"express-torus:dims=8.8,hosts=0", 4},
                                           Layers{"cplant:hosts=0", 3}));

}  // namespace vl_oracles_test
}  // namespace smd::test

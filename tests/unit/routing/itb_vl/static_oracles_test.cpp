// Numbers that follow from topology and rules alone, as Flich's thesis (2001) and a recount give
// them: shares of shortest routes under up*/down*, cuts on shortest routes.
#include <gtest/gtest.h>

#include "smd/base/rng.h"
#include "smd/routing/itb_vl/sl_tables.h"
#include "smd/routing/verify/check_routes.h"
#include "tests/unit/routing/support/generated.h"
#include "tests/unit/routing/support/turn_model.h"

namespace smd::test {
namespace static_oracles_test {

struct Row {
  unsigned switches, graphs;
  double expected, balancer;
};

void PrintTo(const Row& row, std::ostream* os) { *os << row.switches << " switches"; }

template <class Measure>
double average(const Row& row, Measure measure) {
  double sum = 0;
  for (unsigned seed = 1; seed <= row.graphs; ++seed) sum += measure(irregular(row.switches, seed));
  return sum / row.graphs;
}

RoutingTables breadth_first(const Generated& g) {
  return compute("updn", g.fabric, g.lids, rooted(g.fabric, "sw-0"));
}

RoutingTables depth_first(const Generated& g) {
  return compute(
      "updn", g.fabric, g.lids, {.options = {.orientation_search = OrientationSearch::DepthFirst}});
}

class BreadthFirst : public ::testing::TestWithParam<Row> {};

TEST_P(BreadthFirst, LeavesSomePairsTheirShortestRoutes) {
  EXPECT_NEAR(100 * average(GetParam(),
                            [](const Generated& g) {
                              return TurnModel{g.fabric, breadth_first(g).orientation}
                                  .measure_lengths()
                                  .minimal_share;
                            }),
              GetParam().expected,
              GetParam().balancer);
}

INSTANTIATE_TEST_SUITE_P(Irregular,
                         BreadthFirst,
                         ::testing::Values(Row{8, 40, 98.8, 0.8},
                                           Row{16, 40, 86.8, 1.5},
                                           Row{32, 40, 74.9, 1.5},
                                           Row{64, 20, 61.0, 1.5}));

class DepthFirst : public ::testing::TestWithParam<Row> {};

TEST_P(DepthFirst, LeavesMorePairsTheirShortestRoutes) {
  EXPECT_NEAR(100 * average(GetParam(),
                            [](const Generated& g) {
                              return TurnModel{g.fabric, depth_first(g).orientation}
                                  .measure_lengths()
                                  .minimal_share;
                            }),
              GetParam().expected,
              GetParam().balancer);
}

INSTANTIATE_TEST_SUITE_P(Irregular,
                         DepthFirst,
                         ::testing::Values(Row{8, 20, 99.8, 0.5},
                                           Row{16, 20, 90.8, 1.5},
                                           Row{32, 20, 81.4, 1.5},
                                           Row{64, 10, 70.5, 1.5}));

class Tables : public ::testing::TestWithParam<Row> {};

TEST_P(Tables, WithoutInputPortsLoseLittle) {
  EXPECT_NEAR(100 * average(GetParam(),
                            [](const Generated& g) {
                              const RouteReport report =
                                  check_routes(g.fabric, g.lids, breadth_first(g).lft);
                              EXPECT_TRUE(report.ok());
                              return static_cast<double>(report.minimal) /
                                     static_cast<double>(report.pairs);
                            }),
              GetParam().expected,
              GetParam().balancer);
}

INSTANTIATE_TEST_SUITE_P(Irregular,
                         Tables,
                         ::testing::Values(Row{16, 40, 86.5, 1.5},
                                           Row{32, 40, 74.5, 1.5},
                                           Row{64, 20, 60.7, 1.5}));

TEST(Cuts, OnShortestRoutesOf64IrregularSwitches) {
  const Row breadth{64, 20, 0.53, 0.02}, depth{64, 10, 0.45, 0.03};
  EXPECT_NEAR(average(breadth,
                      [](const Generated& g) {
                        return TurnModel{g.fabric, breadth_first(g).orientation}.measure_cuts();
                      }),
              breadth.expected,
              breadth.balancer);
  EXPECT_NEAR(average(depth,
                      [](const Generated& g) {
                        return TurnModel{g.fabric, depth_first(g).orientation}.measure_cuts();
                      }),
              depth.expected,
              depth.balancer);
}

struct Regular {
  const char* call;
  const char* root;
  double minimal_share, mean_legal, mean_shortest;  // 0: not stated
};

void PrintTo(const Regular& row, std::ostream* os) { *os << row.call; }

class RegularNetworks : public ::testing::TestWithParam<Regular> {};

TEST_P(RegularNetworks, UnderUpDown) {
  const Generated g = generated(GetParam().call);
  const RoutingTables tables = compute("updn", g.fabric, g.lids, rooted(g.fabric, GetParam().root));
  const TurnModel::Lengths lengths = TurnModel{g.fabric, tables.orientation}.measure_lengths();
  EXPECT_NEAR(100 * lengths.minimal_share, GetParam().minimal_share, 0.05);
  if (GetParam().mean_legal != 0) {
    EXPECT_NEAR(lengths.mean_legal, GetParam().mean_legal, 0.0005);
  }
  if (GetParam().mean_shortest != 0) {
    EXPECT_NEAR(lengths.mean_shortest, GetParam().mean_shortest, 0.005);
  }
}

INSTANTIATE_TEST_SUITE_P(
    All,
    RegularNetworks,
    ::testing::Values(Regular{"torus:dims=8.8,hosts=0", "sw-0-0", 81.8, 4.571, 4.063},
                      Regular{"express-torus:dims=8.8,hosts=0", "sw-0-0", 93.8, 0, 2.54},
                      Regular{"cplant:hosts=0", "sw-0-0", 100, 0, 0}));

// Routes drawn at random, cut only where a turn would close a cycle with those before.
class CycleCuts : public ::testing::TestWithParam<Row> {};

double cut_cycles(const Generated& g) {
  const SwitchGraph graph{g.fabric};
  CycleRule rule{graph, 1};
  Rng rng{7};
  double cuts = 0, pairs = 0;
  for (const SwitchIdx to : g.fabric.switch_node.indices()) {
    const auto distance = compute_distances(graph, {&to, 1});
    for (const SwitchIdx from : g.fabric.switch_node.indices()) {
      if (from == to) continue;
      ++pairs;
      std::uint32_t last = UINT32_MAX;
      for (SwitchIdx at = from; at != to;) {
        std::vector<std::uint32_t> edges;
        std::uint32_t position = graph.first_edge(at);
        for (const SwitchEdge& edge : graph.edges(at)) {
          if (distance[edge.to] + 1 == distance[at]) edges.push_back(position);
          ++position;
        }
        const std::uint32_t edge = edges[rng.below(edges.size())];
        if (last != UINT32_MAX && !rule.may_stay(last, edge, 0)) ++cuts;
        last = edge;
        at = graph.edge(edge).to;
      }
    }
  }
  return cuts / pairs;
}

TEST_P(CycleCuts, AreFewerThanThoseOfUpDown) {
  EXPECT_NEAR(average(GetParam(), cut_cycles), GetParam().expected, GetParam().balancer);
}

INSTANTIATE_TEST_SUITE_P(Irregular,
                         CycleCuts,
                         ::testing::Values(Row{16, 10, 0.18, 0.03},
                                           Row{32, 5, 0.30, 0.03},
                                           Row{64, 3, 0.43, 0.04}));

}  // namespace static_oracles_test
}  // namespace smd::test

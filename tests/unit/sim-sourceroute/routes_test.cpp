// The network of Flich's figures, whose numbers are known by hand, and shares that follow from
// topology and rules alone.
#include <gmock/gmock.h>

#include <algorithm>
#include <set>

#include "tests/unit/sim-sourceroute/made.h"

namespace smd::sim::test {
namespace {

struct Flich : testing::Test {
  /// Switches that a route passes.
  std::vector<std::uint32_t> passed(const SourceRoute& route) const {
    std::vector<std::uint32_t> out{net.from(route.path.front())};
    for (const Channel c : route.path) out.push_back(net.to(c));
    return out;
  }

  std::set<std::vector<std::uint32_t>> ever(std::string_view system,
                                            std::uint32_t from,
                                            std::uint32_t to) {
    std::set<std::vector<std::uint32_t>> out;
    for (std::uint64_t seed = 1; seed <= 40; ++seed) {
      const RouteSet set = routes(net, system, {.seed = seed});
      EXPECT_EQ(set.of(from, to).size(), 1u);
      out.insert(passed(set.of(from, to)[0]));
      for (const RouteItb& stop : set.of(from, to)[0].stops) {
        stops.insert(net.from(set.of(from, to)[0].path[stop.before]));
      }
    }
    return out;
  }

  RouteNet net = net_of("example:name=flich");
  std::set<std::uint32_t> stops;  // switches where a host took something in
};

TEST_F(Flich, ForbidsFourteenOfFortyEightTurns) {
  const SwitchKeys keys = breadth_first_keys(net, 0);
  std::vector<unsigned> forbidden(8, 0);
  unsigned turns = 0;
  for (Channel a = 0; a < net.channels(); ++a) {
    for (Channel b = net.first(net.to(a)); b < net.end(net.to(a)); ++b) {
      if (net.to(b) == net.from(a)) continue;
      ++turns;
      const std::uint32_t at = net.to(a);
      if (keys[at] > keys[net.from(a)] && keys[at] > keys[net.to(b)]) ++forbidden[at];
    }
  }
  EXPECT_EQ(turns, 48u);
  EXPECT_THAT(forbidden, testing::ElementsAre(0, 2, 0, 0, 0, 0, 6, 6));
}

TEST_F(Flich, From4To1TwoLinksAndAStopAt6OrThreeLinksWithout) {
  using Ways = std::set<std::vector<std::uint32_t>>;
  EXPECT_EQ(ever("UD", 4, 1), (Ways{{4, 0, 2, 1}, {4, 0, 5, 1}}));
  EXPECT_TRUE(stops.empty());
  for (const char* system : {"UD_MITB", "UD_ITB"}) {
    stops.clear();
    EXPECT_EQ(ever(system, 4, 1), (Ways{{4, 6, 1}})) << system;
    EXPECT_THAT(stops, testing::ElementsAre(6)) << system;
  }
}

TEST_F(Flich, From4To2TheWayWithoutAStopIsTakenWhereStopsAreFew) {
  using Ways = std::set<std::vector<std::uint32_t>>;
  EXPECT_EQ(ever("UD_MITB", 4, 2), (Ways{{4, 0, 2}}));
  EXPECT_EQ(ever("UD_ITB", 4, 2), (Ways{{4, 0, 2}, {4, 7, 2}}));
}

TEST_F(Flich, SixOfFiftySixPairsGoALongerWay) {
  const RouteFigures figures = measure_routes(net, routes(net, "UD"));
  EXPECT_EQ(figures.routes, 56u);
  EXPECT_DOUBLE_EQ(figures.minimal_share, 50.0 / 56);
}

struct Row {
  const char* system;
  unsigned switches, graphs;
  double minimal, within;
};

void PrintTo(const Row& row, std::ostream* os) { *os << row.system << " " << row.switches; }

class MinimalShare : public testing::TestWithParam<Row> {};

TEST_P(MinimalShare, IsAsCounted) {
  const Row& row = GetParam();
  double sum = 0;
  for (unsigned seed = 1; seed <= row.graphs; ++seed) {
    const RouteNet net = irregular(row.switches, seed);
    sum += measure_routes(net, routes(net, row.system)).minimal_share;
  }
  EXPECT_NEAR(100 * sum / row.graphs, row.minimal, row.within);
}

INSTANTIATE_TEST_SUITE_P(Irregular,
                         MinimalShare,
                         testing::Values(Row{"UD", 8, 40, 98.8, 1.5},
                                         Row{"UD", 16, 40, 86.8, 1.5},
                                         Row{"UD", 32, 40, 74.9, 1.5},
                                         Row{"UD", 64, 40, 61.0, 1.5},
                                         Row{"DFS", 8, 40, 99.8, 1.5},
                                         Row{"DFS", 16, 40, 90.8, 1.5},
                                         Row{"DFS", 32, 40, 81.4, 1.5},
                                         Row{"DFS", 64, 40, 70.5, 1.5},
                                         Row{"UD_ITB", 64, 5, 100, 0}));

TEST(MinimalShare, OfRegularNetworks) {
  const RouteNet torus = net_of("torus:dims=8.8,hosts=8");
  const RouteFigures ud = measure_routes(torus, routes(torus, "UD"));
  EXPECT_NEAR(100 * ud.minimal_share, 81.8, 0.1);
  EXPECT_NEAR(ud.mean_links, 4.571, 0.001);
  EXPECT_NEAR(measure_routes(torus, routes(torus, "UD_ITB")).mean_links, 4.063, 0.001);
  const RouteNet express = net_of("express-torus:dims=8.8,hosts=8");
  EXPECT_NEAR(100 * measure_routes(express, routes(express, "UD")).minimal_share, 93.8, 0.1);
  const RouteNet cplant = net_of("cplant:");
  EXPECT_EQ(measure_routes(cplant, routes(cplant, "UD")).minimal_share, 1);
}

double mean_stops(const char* system, unsigned switches, unsigned graphs) {
  double sum = 0;
  for (unsigned seed = 1; seed <= graphs; ++seed) {
    const RouteNet net = irregular(switches, seed);
    sum += measure_routes(net, routes(net, system)).stops_per_route;
  }
  return sum / graphs;
}

TEST(Stops, PerRouteAreAsCounted) {
  EXPECT_NEAR(mean_stops("UD_ITB", 64, 10), 0.53, 0.03);
  EXPECT_NEAR(mean_stops("DFS_ITB", 64, 10), 0.45, 0.03);
  EXPECT_NEAR(mean_stops("BMIN_ITB", 16, 10), 0.18, 0.03);
  EXPECT_NEAR(mean_stops("BMIN_ITB", 32, 5), 0.30, 0.03);
  EXPECT_NEAR(mean_stops("BMIN_ITB", 64, 5), 0.43, 0.03);
}

TEST(Stops, AreAThirdAHalfTwoThirdsOrAllOfTheSwitchesBetween) {
  for (const auto& [system, share] :
       {std::pair{"B33_ITB", 1.0 / 3}, {"B50_ITB", 0.5}, {"B66_ITB", 2.0 / 3}, {"BMAX_ITB", 1.0}}) {
    double sum = 0;
    for (unsigned seed = 1; seed <= 20; ++seed) {
      const RouteNet net = irregular(32, seed);
      sum += measure_routes(net, routes(net, system, {.seed = seed})).stop_share;
    }
    EXPECT_NEAR(sum / 20, share, 0.01) << system;
  }
}

}  // namespace
}  // namespace smd::sim::test

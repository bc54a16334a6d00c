// LIDs of one port lead to it by different ways where there are any, and all of them together are
// free of deadlock.
#include <gtest/gtest.h>

#include <set>

#include "smd/routing/graph/switch_graph.h"
#include "smd/routing/updn/orientation.h"
#include "smd/routing/updn/up_down.h"
#include "smd/routing/verify/check_routes.h"
#include "tests/unit/routing/support/generated.h"

namespace smd::test {
namespace {

struct Case {
  const char* call;
  const char* engine;
  std::uint8_t lmc;
};

void PrintTo(const Case& row, std::ostream* os) {
  *os << row.engine << " on " << row.call << ", LMC " << int{row.lmc};
}

// Over all switches and hosts: what the offsets of a port take of the ways there are.
template <class Find>
void expect_different_paths(const Fabric& f,
                            const LidMap& lids,
                            const RoutingTables& tables,
                            const SwitchGraph& graph,
                            Find find,
                            bool cables) {
  const Targets targets = find_targets(f, lids);
  NextHops hops;
  for (const SwitchIdx to : targets.of.indices()) {
    if (targets.of[to].empty()) continue;
    find(to, hops);
    for (const Target& target : targets.of[to]) {
      for (std::size_t i = 0; i < hops.order.size(); ++i) {
        std::set<SwitchIdx> neighbours;
        for (std::uint32_t at = hops.first[i]; at < hops.first[i + 1]; ++at)
          neighbours.insert(graph.edge(hops.edges[at]).to);
        const std::size_t ways = cables ? hops.first[i + 1] - hops.first[i] : neighbours.size();
        std::set<unsigned> ports;
        std::set<SwitchIdx> taken;
        for (unsigned o = 0; o < 1u << target.lmc; ++o) {
          const Lid lid{static_cast<std::uint16_t>(target.base.value() + o)};
          const PortNum port = tables.lft.route(hops.order[i], lid);
          ports.insert(port.value());
          for (const SwitchEdge& edge : graph.edges(hops.order[i])) {
            if (edge.port == port) taken.insert(edge.to);
          }
        }
        const std::size_t wanted = std::min<std::size_t>(ways, std::size_t{1} << target.lmc);
        EXPECT_EQ(cables ? ports.size() : taken.size(), wanted);
      }
    }
  }
}

class LidOffsets : public ::testing::TestWithParam<Case> {};

TEST_P(LidOffsets, OffsetsTakeAsManyWaysAsThereAre) {
  const auto& [call, engine, lmc] = GetParam();
  const Generated g = generated(call, lmc);
  const RoutingTables tables = compute(engine, g.fabric, g.lids);
  ASSERT_EQ(tables.engine, engine);
  const SwitchGraph graph{g.fabric};
  ShortestSearch shortest{graph};
  if (tables.engine == "updn") {
    const OrientedFabric oriented{g.fabric, g.lids, {}, &tables.orientation};
    UpDownSearch legal{oriented.up_down};
    expect_different_paths(
        g.fabric,
        g.lids,
        tables,
        graph,
        [&](SwitchIdx to, NextHops& hops) { legal.find(to, hops); },
        true);
  } else {
    expect_different_paths(
        g.fabric,
        g.lids,
        tables,
        graph,
        [&](SwitchIdx to, NextHops& hops) { shortest.find(to, hops); },
        tables.engine != "itb-vl");
  }
}

TEST_P(LidOffsets, TogetherAreFreeOfDeadlock) {
  const auto& [call, engine, lmc] = GetParam();
  if (std::string_view{engine} == "minhop") return;  // promises none
  const Generated g = generated(call, lmc);
  const RoutingTables tables = compute(engine, g.fabric, g.lids);
  const RouteReport report = check_routes(g.fabric, g.lids, tables);
  EXPECT_TRUE(report.ok()) << print_cycle(g.fabric, report.cycle);
  EXPECT_EQ(report.disconnected, 0u);
}

INSTANTIATE_TEST_SUITE_P(
    Networks,
    LidOffsets,
    ::testing::Values(Case{"irregular:switches=16,hosts=2,seed=1", "updn", 2},
                      Case{"irregular:switches=16,hosts=2,seed=2", "minhop", 1},
                      Case{"irregular:switches=16,hosts=2,seed=3", "itb-vl", 1},
                      Case{"irregular:switches=24,hosts=1,seed=3", "itb-vl", 2},
                      Case{"torus:dims=4.4", "itb-vl", 1},
                      Case{"torus:dims=4.4", "updn", 3},
                      Case{"fat-tree:k=4,levels=3", "updn", 2},
                      Case{"fat-tree:k=4,levels=3", "minhop", 2},
                      Case{"fat-tree:k=4,levels=3", "itb-vl", 2}));

TEST(LidOffsets, OfItbVlShareOneSlPerPairAndOffset) {
  const Generated g = generated("irregular:switches=16,hosts=2,seed=3", 1);
  const RoutingTables tables = compute("itb-vl", g.fabric, g.lids);
  ASSERT_FALSE(tables.path_sls.empty());
  const Targets targets = find_targets(g.fabric, g.lids);
  for (const SwitchIdx a : targets.of.indices()) {
    for (const SwitchIdx b : targets.of.indices()) {
      for (const Target& to : targets.of[b]) {
        for (const Target& back : targets.of[a]) {
          for (unsigned o = 0; o < 2; ++o) {
            if (o >= 1u << to.lmc || o >= 1u << back.lmc || a == b) continue;
            const auto lid = [&](const Target& t) {
              return Lid{static_cast<std::uint16_t>(t.base.value() + o)};
            };
            EXPECT_EQ(tables.path_sls.sl(a, lid(to)), tables.path_sls.sl(b, lid(back)));
          }
        }
      }
    }
  }
}

TEST(LidOffsets, PortsWithFewerLidsHaveThoseOnly) {
  const Generated g = generated("irregular:switches=8,hosts=1,seed=1", 2);
  const RoutingTables tables = compute("itb-vl", g.fabric, g.lids);
  for (std::size_t value = 1; value <= tables.lft.top().value(); ++value) {
    const Lid lid{static_cast<std::uint16_t>(value)};
    for (const SwitchIdx sw : g.fabric.switch_node.indices())
      EXPECT_EQ(tables.lft.route(sw, lid) == kNoRoute, g.lids.owner_of(lid) == kNone<PortIdx>);
  }
}

}  // namespace
}  // namespace smd::test

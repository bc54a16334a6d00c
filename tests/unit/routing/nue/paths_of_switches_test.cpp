// Paths between switches on trees: no credit loop, whatever is missing, and nothing else is
// touched.
#include "smd/routing/nue/paths_of_switches.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "smd/routing/verify/check_routes.h"
#include "tests/unit/routing/support/generated.h"

namespace smd::test {
namespace {

/// Leaves S1 … below spines S101 …, each cable once but for those in `missing`. Cables come in an
/// order of no meaning, as in a real hall: by their ports in order shortest paths happen to turn
/// at the same few leaves.
Fabric tree(int leaves,
            int spines,
            const std::vector<std::pair<int, int>>& missing = {},
            int order = 37) {
  std::vector<std::pair<int, int>> cables;
  for (int l = 1; l <= leaves; ++l) {
    for (int s = 1; s <= spines; ++s) {
      if (!std::ranges::count(missing, std::pair{l, s})) cables.emplace_back(l, s);
    }
  }
  std::ranges::stable_sort(
      cables, {}, [order](const auto& c) { return (c.first * order + c.second * 101) % 97; });
  std::string text;
  for (int l = 1; l <= leaves; ++l)
    text += "H" + std::to_string(l) + "-S" + std::to_string(l) + " ";
  for (const auto& [l, s] : cables)
    text += "S" + std::to_string(l) + "-S" + std::to_string(100 + s) + " ";
  return fabric_from(text);
}

struct Led {
  RoutingTables before, after;
  bool led = false;
  RouteReport report;
};

Led lead(const Fabric& fabric, const LidMap& lids) {
  Led out{.before = compute("minhop", fabric, lids), .after = {}, .led = false, .report = {}};
  out.after = out.before;
  out.led = lead_switches_apart(fabric, lids, out.after);
  out.report = check_routes(fabric, lids, out.after);
  return out;
}

/// Every pair of hosts goes the way that it went.
void expect_hosts_untouched(const Fabric& fabric, const LidMap& lids, const Led& led) {
  std::vector<std::string> hosts;
  for (const NodeIdx n : fabric.description.indices()) {
    if (!fabric.is_switch(n)) hosts.push_back(fabric.description[n]);
  }
  for (const std::string& from : hosts) {
    for (const std::string& to : hosts) {
      if (from == to) continue;
      EXPECT_EQ(path(fabric, lids, led.after.lft, from, to),
                path(fabric, lids, led.before.lft, from, to));
    }
  }
}

/// 24 leaves with one to five hosts each below 12 spines, in any order of ports.
std::string shuffled_tree(std::uint32_t seed) {
  std::vector<std::string> cables;
  for (int l = 1; l <= 24; ++l) {
    for (int s = 101; s <= 112; ++s)
      cables.push_back("S" + std::to_string(l) + "-S" + std::to_string(s) + " ");
  }
  for (std::size_t i = cables.size() - 1; i > 0; --i) {
    seed = seed * 1664525 + 1013904223;
    std::swap(cables[i], cables[(seed >> 8) % (i + 1)]);
  }
  std::string text;
  for (int l = 1; l <= 24; ++l) {
    for (int h = 0; h <= l % 5; ++h)
      text += "H" + std::to_string(10 * l + h) + "-S" + std::to_string(l) + " ";
  }
  for (const std::string& cable : cables) text += cable;
  return text;
}

TEST(PathsOfSwitches, ATreeOfTwelveSpinesHasNoCreditLoop) {
  std::size_t loops = 0;
  for (std::uint32_t seed = 1; seed <= 10; ++seed) {
    const Fabric f = fabric_from(shuffled_tree(seed));
    const LidMap lids = lids_in_order(f);
    const Led led = lead(f, lids);
    loops += !check_routes(f, lids, led.before).acyclic;
    EXPECT_TRUE(led.report.ok()) << print_cycle(f, led.report.cycle);
    EXPECT_EQ(led.report.minimal, led.report.pairs);
    expect_hosts_untouched(f, lids, led);
  }
  EXPECT_GT(loops, 0u);
}

TEST(PathsOfSwitches, AnAggregationNodeMakesNoLeaf) {
  std::size_t loops = 0;
  for (std::uint32_t seed = 1; seed <= 10; ++seed) {
    std::string text = shuffled_tree(seed);
    for (int s = 101; s <= 112; ++s)
      text += "H" + std::to_string(1000 + s) + "-S" + std::to_string(s) + " ";
    const Fabric f = fabric_from(text);
    const LidMap lids = lids_in_order(f);
    const Led led = lead(f, lids);
    loops += !check_routes(f, lids, led.before).acyclic;
    EXPECT_TRUE(led.report.ok()) << print_cycle(f, led.report.cycle);
  }
  EXPECT_GT(loops, 0u);
}

TEST(PathsOfSwitches, EachCableMayBeMissingAndPairsOfThem) {
  std::size_t loops = 0;
  for (int first = 0; first < 20; ++first) {
    for (int second = first; second < 20; ++second) {
      const std::vector<std::pair<int, int>> missing{{1 + first / 4, 1 + first % 4},
                                                     {1 + second / 4, 1 + second % 4}};
      const Fabric f = tree(5, 4, missing);
      const LidMap lids = lids_in_order(f);
      const Led led = lead(f, lids);
      loops += !check_routes(f, lids, led.before).acyclic;
      EXPECT_TRUE(led.report.ok())
          << first << " " << second << " " << print_cycle(f, led.report.cycle);
      expect_hosts_untouched(f, lids, led);
    }
  }
  EXPECT_GT(loops, 0u);
}

TEST(PathsOfSwitches, ThreeLevelsStandWithLongerPathsBetweenSwitches) {
  const Generated g = generated("pgft:levels=3,down=3.3.3,up=1.3.3,parallel=1.1.1");
  const Led led = lead(g.fabric, g.lids);
  EXPECT_TRUE(led.led);
  EXPECT_TRUE(led.report.ok()) << print_cycle(g.fabric, led.report.cycle);
  expect_hosts_untouched(g.fabric, g.lids, led);
}

TEST(PathsOfSwitches, LidsInBlocksAreLedLikeOthers) {
  const Fabric f = tree(7, 4);
  const LidMap lids = lids_in_order(f, 2);
  const Led led = lead(f, lids);
  EXPECT_TRUE(led.led);
  EXPECT_TRUE(led.report.ok()) << print_cycle(f, led.report.cycle);
}

TEST(PathsOfSwitches, WhereHostsCloseALoopNothingChanges) {
  // A ring of five with a switch in the middle that has no host.
  const Fabric f =
      fabric_from("H1-S1 H2-S2 H3-S3 H4-S4 H5-S5 S1-S2 S2-S3 S3-S4 S4-S5 S5-S1 S1-S6 S2-S6");
  const LidMap lids = lids_in_order(f);
  const Led led = lead(f, lids);
  EXPECT_FALSE(led.led);
  EXPECT_EQ(led.after.lft, led.before.lft);
  EXPECT_FALSE(led.report.acyclic);
}

TEST(PathsOfSwitches, TablesWithoutACycleStayAsTheyAre) {
  const Fabric f = tree(6, 1);
  const LidMap lids = lids_in_order(f);
  const Led led = lead(f, lids);
  EXPECT_FALSE(led.led);
  EXPECT_EQ(led.after.lft, led.before.lft);
}

TEST(PathsOfSwitches, WhatIsLedAfterAChangeIsSaidToBeRecomputed) {
  std::size_t led = 0;
  const Fabric whole = tree(5, 4);
  const LidMap lids = lids_in_order(whole);
  const Led before = lead(whole, lids);
  const PreviousRoutes in_force{&whole, &lids, &before.after};
  for (int cable = 0; cable < 20; ++cable) {
    const Fabric hurt = tree(5, 4, {{1 + cable / 4, 1 + cable % 4}, {1, 1}});
    const LidMap now = lids_in_order(hurt);
    RoutingTables kept = compute("minhop", hurt, now, {.in_force = &in_force});
    if (!kept.recomputed) continue;
    const RoutingTables kept_alone = kept;
    if (!lead_switches_apart(hurt, now, kept)) continue;
    ++led;
    EXPECT_TRUE(check_routes(hurt, now, kept).ok());
    for (std::size_t lid = 1; lid <= now.top.value(); ++lid) {
      const Lid each{static_cast<std::uint16_t>(lid)};
      bool moved = false;
      for (const SwitchIdx sw : hurt.switch_node.indices())
        moved = moved || kept.lft.route(sw, each) != kept_alone.lft.route(sw, each);
      EXPECT_TRUE(!moved || std::ranges::count(*kept.recomputed, each) == 1) << lid;
    }
  }
  EXPECT_GT(led, 0u);
}

}  // namespace
}  // namespace smd::test

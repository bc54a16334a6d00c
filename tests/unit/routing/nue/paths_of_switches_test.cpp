// Paths between switches on trees: no credit loop, whatever is missing, and nothing else is
// touched.
#include "smd/routing/nue/paths_of_switches.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <map>
#include <set>
#include <utility>

#include "smd/base/rng.h"
#include "smd/routing/nue/turn_record.h"
#include "smd/routing/verify/channel_load.h"
#include "smd/routing/verify/check_routes.h"
#include "tests/unit/routing/support/reshaped.h"
#include "tests/unit/routing/support/shape_checks.h"
#include "tests/unit/routing/support/trees.h"

namespace smd::test {
namespace paths_of_switches_test {

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
  const Fabric f = generated_fabric("pgft:levels=3,down=3.3.3,up=1.3.3,parallel=1.1.1");
  const LidMap lids = lids_in_order(f);
  const Led led = lead(f, lids);
  EXPECT_TRUE(led.led);
  EXPECT_TRUE(led.report.ok()) << print_cycle(f, led.report.cycle);
  expect_hosts_untouched(f, lids, led);
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

// What stays when something is lost or comes back.

/// What the record says, against a count of all entries by other code: turns that are counted
/// otherwise, or that do not lead onwards in its order.
std::size_t count_faults(const Fabric& fabric, const LidMap& lids, const RoutingTables& tables) {
  const TurnRecord& record = *tables.turns;
  std::vector<std::size_t> place(record.graph.edge_count());
  for (std::size_t at = 0; at < record.layers[0].order.size(); ++at)
    place[record.layers[0].order[at]] = at;
  const auto next = [&](SwitchIdx sw, Lid lid) {
    const PortNum egress = tables.lft.route(sw, lid);
    for (std::uint32_t at = 0; at < record.graph.edges(sw).size(); ++at) {
      if (record.graph.edges(sw)[at].port == egress) return record.graph.first_edge(sw) + at;
    }
    return kNoChannel;
  };
  std::map<std::pair<Channel, Channel>, std::size_t> counted;
  for (std::size_t l = 1; l <= lids.top.value(); ++l) {
    const Lid lid{static_cast<std::uint16_t>(l)};
    if (lids.owner_of(lid) == kNone<PortIdx>) continue;
    for (const SwitchIdx sw : fabric.switch_node.indices()) {
      const Channel in = next(sw, lid);
      if (in == kNoChannel) continue;
      const Channel out = next(record.graph.edge(in).to, lid);
      if (out != kNoChannel) ++counted[{in, out}];
    }
  }
  std::size_t faults = 0;
  for (const auto& [turn, count] : counted) faults += place[turn.first] >= place[turn.second];
  for (Channel in = 0; in < record.graph.edge_count(); ++in) {
    const SwitchIdx at = record.graph.edge(in).to;
    for (std::uint32_t slot = 0; slot < record.graph.edges(at).size(); ++slot) {
      const Channel out = record.graph.first_edge(at) + slot;
      const auto found = counted.find({in, out});
      faults +=
          record.layers[0].taken->count(in, out) != (found == counted.end() ? 0 : found->second);
    }
  }
  return faults;
}

std::size_t count_differences(const Fabric& before,
                              const ForwardingTables& old,
                              const Fabric& now,
                              const ForwardingTables& tables,
                              Lid top) {
  std::size_t changed = 0;
  for (const SwitchIdx sw : now.switch_node.indices()) {
    const auto node = before.find_node(now.node_guid[now.switch_node[sw]]);
    if (!node) continue;
    for (std::size_t lid = 1; lid <= top.value(); ++lid) {
      const Lid each{static_cast<std::uint16_t>(lid)};
      changed += tables.route(sw, each) != old.route(before.switch_of[*node], each);
    }
  }
  return changed;
}

/// Every pair of hosts is as near as the engine made it. How many of a thousand go another way.
std::size_t compare_hosts(const Fabric& fabric,
                          const LidMap& lids,
                          const RoutingTables& before,
                          const RoutingTables& after) {
  std::size_t pairs = 0, others = 0;
  const std::vector<PortIdx> hosts = list_hosts(fabric);
  for (const PortIdx from : hosts) {
    for (const PortIdx to : hosts) {
      if (from == to || fabric.peer[from] == kNone<PortIdx>) continue;
      const auto was = walk(fabric, lids, before.lft, from, to);
      const auto is = walk(fabric, lids, after.lft, from, to);
      EXPECT_EQ(is.size(), was.size());
      ++pairs;
      others += is != was;
    }
  }
  return 1000 * others / pairs;
}

/// Paths from every host to every other one on each channel between switches, by port.
std::map<PortIdx, std::uint64_t> count_paths(const Fabric& fabric,
                                             const LidMap& lids,
                                             const ForwardingTables& tables) {
  std::map<PortIdx, std::uint64_t> paths;
  const std::vector<PortIdx> hosts = list_hosts(fabric);
  for (const PortIdx from : hosts) {
    for (const PortIdx to : hosts) {
      if (from == to || fabric.peer[from] == kNone<PortIdx>) continue;
      for (const PortIdx port : walk(fabric, lids, tables, from, to)) {
        if (fabric.is_switch(fabric.node_of[fabric.peer[port]])) ++paths[port];
      }
    }
  }
  return paths;
}

/// Loads are known, and are those that following every pair of hosts finds.
void expect_known_loads(const Fabric& fabric, const LidMap& lids, const RoutingTables& tables) {
  const SwitchGraph graph{fabric};
  std::vector<std::uint64_t> counted;
  const auto paths = count_paths(fabric, lids, tables.lft);
  for (const SwitchIdx sw : fabric.switch_node.indices()) {
    for (const SwitchEdge& edge : graph.edges(sw)) {
      const auto found = paths.find(fabric.port_of(fabric.switch_node[sw], edge.port));
      counted.push_back(found == paths.end() ? 0 : found->second);
    }
  }
  EXPECT_EQ(tables.load.by_edge, counted);
}

/// What changes cost, out of the routes in force and with all paths between switches led anew.
struct Costs {
  std::size_t pairs_moved = 0;  // of hosts, by those above: of a thousand, summed up
  std::size_t changes = 0, kept = 0, entries = 0, entries_led_anew = 0;
};

/// From `before`, whose routes are led apart, to `now`.
RoutingTables keep_apart(const Fabric& before,
                         const LidMap& lids_before,
                         const RoutingTables& in_force,
                         const Fabric& now,
                         const LidMap& lids,
                         Costs& costs) {
  const PreviousRoutes previous{&before, &lids_before, &in_force};
  RoutingTables made = compute("minhop", now, lids, {.in_force = &previous});
  RoutingTables led = made;
  const bool apart = lead_switches_apart(now, lids, led);
  if (apart)
    costs.entries_led_anew += count_differences(before, in_force.lft, now, led.lft, lids.top);
  ++costs.changes;
  RoutingTables kept = made;
  if (!keep_switches_apart(previous, now, lids, kept)) {
    EXPECT_EQ(kept.lft, made.lft);
    return led;
  }
  ++costs.kept;
  if (apart) costs.entries += count_differences(before, in_force.lft, now, kept.lft, lids.top);
  const RouteReport report = check_routes(now, lids, kept);
  EXPECT_TRUE(report.ok()) << print_cycle(now, report.cycle);
  EXPECT_EQ(report.pairs, check_routes(now, lids, made).pairs);
  EXPECT_EQ(count_faults(now, lids, kept), 0u);
  costs.pairs_moved += compare_hosts(now, lids, made, kept);
  return kept;
}

std::vector<Fabric> list_trees() {
  std::vector<Fabric> trees{generated_fabric("pgft:levels=3,down=3.3.3,up=1.3.3,parallel=1.1.1"),
                            generated_fabric("fat-tree:k=8,levels=3"),
                            generated_fabric("pgft:levels=3,down=3.4.3,up=1.2.3,parallel=1.2.1")};
  for (std::uint32_t seed = 1; seed <= 6; ++seed) trees.push_back(fabric_from(shuffled_tree(seed)));
  return trees;
}

TEST(PathsOfSwitches, AChangeOfATreeMovesWhatItBreaksAndClosesNoLoop) {
  Costs costs;
  std::size_t trees = 0;
  for (const Fabric& whole : list_trees()) {
    const LidMap lids = lids_in_order(whole);
    Led led = lead(whole, lids);
    if (!led.led) continue;
    ++trees;
    ASSERT_EQ(count_faults(whole, lids, led.after), 0u);
    Rng rng{trees};
    // Lost and back, one by one, and one that goes while another is away.
    for (int step = 0; step < 6; ++step) {
      const auto drawn = draw_cables(whole, 2, rng);
      const Fabric hurt = without_cables(whole, {drawn[0]});
      const Fabric worse = without_cables(whole, drawn);
      RoutingTables now = keep_apart(whole, lids, led.after, hurt, lids, costs);
      now = keep_apart(hurt, lids, now, worse, lids, costs);
      now = keep_apart(worse, lids, now, hurt, lids, costs);
      led.after = keep_apart(hurt, lids, now, whole, lids, costs);
      ASSERT_NE(led.after.turns, nullptr);
    }
  }
  EXPECT_GE(trees, 4u);
  EXPECT_EQ(costs.changes, 24 * trees);
  EXPECT_GE(10 * costs.kept, 9 * costs.changes);
  EXPECT_LE(costs.pairs_moved, 50 * costs.changes);
  EXPECT_LT(2 * costs.entries, costs.entries_led_anew);
}

// Entries that the engine changes, and how many of them had to: their link is gone, or the switch
// is new.
struct Moved {
  std::size_t all = 0, had_to = 0;
};

Moved count_moved_between_switches(const Fabric& before,
                                   const ForwardingTables& old,
                                   const Fabric& now,
                                   const LidMap& lids,
                                   const ForwardingTables& tables) {
  Moved moved;
  const Targets targets = find_targets(now, lids);
  for (const SwitchIdx sw : now.switch_node.indices()) {
    const NodeIdx node = now.switch_node[sw];
    const auto then = before.find_node(now.node_guid[node]);
    for (const SwitchIdx last : now.switch_node.indices()) {
      if (targets.hosts[last] != 0 || last == sw) continue;
      const Lid lid = lids.base[now.port_of(now.switch_node[last], PortNum{0})];
      const PortNum was = then ? old.route(before.switch_of[*then], lid) : kNoRoute;
      moved.all += tables.route(sw, lid) != was;
      moved.had_to += was == kNoRoute || now.peer[now.port_of(node, was)] == kNone<PortIdx>;
    }
  }
  return moved;
}

TEST(PathsOfSwitches, TheEngineLeavesPathsBetweenSwitchesThatAChangeDoesNotBreak) {
  std::size_t trees = 0;
  for (const Fabric& whole : list_trees()) {
    const LidMap lids = lids_in_order(whole);
    const Led led = lead(whole, lids);
    if (!led.led) continue;
    Rng rng{++trees};
    Moved moved;
    const auto change = [&](const Fabric& before,
                            const LidMap& lids_then,
                            const RoutingTables& in_force,
                            const Fabric& now,
                            const LidMap& lids_now) {
      const PreviousRoutes previous{&before, &lids_then, &in_force};
      RoutingTables made = compute("minhop", now, lids_now, {.in_force = &previous});
      const Moved here =
          count_moved_between_switches(before, in_force.lft, now, lids_now, made.lft);
      moved.all += here.all;
      moved.had_to += here.had_to;
      EXPECT_EQ(check_routes(now, lids_now, made).unreachable, 0u);
      EXPECT_TRUE(keep_switches_apart(previous, now, lids_now, made) ||
                  lead_switches_apart(now, lids_now, made));
      return made;
    };
    for (const PortIdx cable : draw_cables(whole, 4, rng)) {
      const Fabric hurt = without_cables(whole, {cable});
      const RoutingTables lost = change(whole, lids, led.after, hurt, lids);
      (void)change(hurt, lids, lost, whole, lids);
    }
    const NodeIdx leaf = whole.node_of[whole.peer[list_hosts(whole).back()]];
    const Fabric less = without_nodes(whole, {leaf});
    const LidMap fewer = same_lids(whole, lids, less);
    const RoutingTables lost = change(whole, lids, led.after, less, fewer);
    (void)change(less, fewer, lost, whole, lids);
    EXPECT_GT(moved.had_to, 0u);
    EXPECT_LE(moved.all, 2 * moved.had_to) << "tree " << trees;
  }
  EXPECT_GE(trees, 4u);
}

TEST(PathsOfSwitches, LoadsAreKnownWhateverIsLedElsewhere) {
  const Fabric whole = generated_fabric("fat-tree:k=8,levels=3");
  const LidMap lids = lids_in_order(whole);
  const Led led = lead(whole, lids);
  ASSERT_TRUE(led.led);
  expect_known_loads(whole, lids, led.after);
  Costs costs;
  Rng rng{1};
  for (const PortIdx cable : draw_cables(whole, 8, rng)) {
    const Fabric hurt = without_cables(whole, {cable});
    const RoutingTables lost = keep_apart(whole, lids, led.after, hurt, lids, costs);
    expect_known_loads(hurt, lids, lost);
    expect_known_loads(whole, lids, keep_apart(hurt, lids, lost, whole, lids, costs));
  }
  const NodeIdx leaf = whole.node_of[whole.peer[list_hosts(whole).back()]];
  const Fabric less = without_nodes(whole, {leaf});
  const LidMap fewer = same_lids(whole, lids, less);
  const RoutingTables lost = keep_apart(whole, lids, led.after, less, fewer, costs);
  expect_known_loads(less, fewer, lost);
  expect_known_loads(whole, lids, keep_apart(less, fewer, lost, whole, lids, costs));
  EXPECT_EQ(costs.kept, costs.changes);
}

TEST(PathsOfSwitches, ASwitchOfATreeGoesAndComesBack) {
  Costs costs;
  const Fabric whole = generated_fabric("pgft:levels=3,down=3.3.3,up=1.3.3,parallel=1.1.1");
  const LidMap lids = lids_in_order(whole);
  const Led led = lead(whole, lids);
  ASSERT_TRUE(led.led);
  for (const NodeIdx node : whole.switch_node) {
    const Fabric hurt = without_nodes(whole, {node});
    const LidMap lids_then = same_lids(whole, lids, hurt);
    const RoutingTables then = keep_apart(whole, lids, led.after, hurt, lids_then, costs);
    if (then.turns != nullptr) (void)keep_apart(hurt, lids_then, then, whole, lids, costs);
  }
  EXPECT_GE(costs.changes, whole.switch_count() + whole.switch_count() / 2);
  EXPECT_GE(10 * costs.kept, 9 * costs.changes);
  EXPECT_LE(costs.pairs_moved, 50 * costs.changes);
}

TEST(PathsOfSwitches, HostsAndLinksThatComeAreTakenInAsWell) {
  Costs costs;
  const Fabric whole = generated_fabric("pgft:levels=3,down=3.3.3,up=1.3.3,parallel=1.1.1");
  const LidMap lids = lids_in_order(whole);
  const auto start_from = [&](const Fabric& less) {
    const LidMap fewer = same_lids(whole, lids, less);
    const Led led = lead(less, fewer);
    ASSERT_TRUE(led.led);
    const RoutingTables now = keep_apart(less, fewer, led.after, whole, lids, costs);
    ASSERT_NE(now.turns, nullptr);
    (void)keep_apart(whole, lids, now, less, fewer, costs);
  };
  start_from(without_cables(whole, {list_cables(whole).front()}));
  const PortIdx host = list_hosts(whole).front();
  start_from(without_nodes(whole, {whole.node_of[host]}));
  EXPECT_EQ(costs.kept, 4u);
}

TEST(PathsOfSwitches, CablesThatEndElsewhereTakeOtherTurnsByTheSameEntries) {
  Costs costs;
  const Fabric whole = generated_fabric("pgft:levels=3,down=3.3.3,up=1.3.3,parallel=1.1.1");
  const LidMap lids = lids_in_order(whole);
  const Led led = lead(whole, lids);
  ASSERT_TRUE(led.led);
  const std::vector<PortIdx> cables = list_cables(whole);
  for (std::size_t at = 0; at + 1 < cables.size(); ++at) {
    const PortIdx a = cables[at], b = cables[at + 1];
    Fabric crossed = whole;
    crossed.peer[a] = whole.peer[b];
    crossed.peer[whole.peer[b]] = a;
    crossed.peer[b] = whole.peer[a];
    crossed.peer[whole.peer[a]] = b;
    (void)keep_apart(whole, lids, led.after, crossed, lids, costs);
  }
  EXPECT_GE(2 * costs.kept, costs.changes);
}

TEST(PathsOfSwitches, RoutesThatWereAlteredSinceAreNotKept) {
  const Fabric f = generated_fabric("pgft:levels=3,down=3.3.3,up=1.3.3,parallel=1.1.1");
  const LidMap lids = lids_in_order(f);
  Led led = lead(f, lids);
  ASSERT_TRUE(led.led);
  const Lid lid{1};
  led.after.lft.set_route(SwitchIdx{0}, lid, PortNum{1});
  led.after.lft.set_route(SwitchIdx{0}, lid, PortNum{2});
  const PreviousRoutes in_force{&f, &lids, &led.after};
  RoutingTables made = compute("minhop", f, lids, {.in_force = &in_force});
  const ForwardingTables before = made.lft;
  EXPECT_FALSE(keep_switches_apart(in_force, f, lids, made));
  EXPECT_EQ(made.lft, before);
  EXPECT_EQ(made.turns, nullptr);
}

// Who makes the tables may leave out the block of a LID that nobody has any more.
TEST(PathsOfSwitches, TurnsOfALidBeyondTheLastBlockAreCountedNoMore) {
  const Fabric whole = generated_fabric("pgft:levels=3,down=3.3.3,up=1.3.3,parallel=1.1.1");
  const LidMap in_order = lids_in_order(whole);
  const PortIdx host = list_hosts(whole).back();
  LidMap lids = make_lid_map(whole);
  for (const PortIdx owner : in_order.owner) {
    if (owner == kNone<PortIdx>) continue;
    set_lid(lids, owner, owner == host ? Lid{400} : in_order.base[owner], 0);
  }
  const Led led = lead(whole, lids);
  ASSERT_TRUE(led.led);
  const Fabric less = without_nodes(whole, {whole.node_of[host]});
  const LidMap fewer = same_lids(whole, lids, less);
  const PreviousRoutes in_force{&whole, &lids, &led.after};
  RoutingTables made = compute("minhop", less, fewer, {.in_force = &in_force});
  ForwardingTables shorter{less.switch_count(), fewer.top};
  for (const SwitchIdx sw : less.switch_node.indices()) shorter.set_row(sw, made.lft, sw);
  ASSERT_LT(shorter.blocks(), made.lft.blocks());
  made.lft = shorter;
  made.turns = nullptr;
  ASSERT_TRUE(keep_switches_apart(in_force, less, fewer, made));
  EXPECT_EQ(count_faults(less, fewer, made), 0u);
}

// Engines that lay paths on as many VLs as they take.

struct Laid {
  std::size_t changes = 0, updates = 0, entries = 0, needed = 0;
};

/// Entries in force that lead over a port without a link now.
std::size_t count_broken(const Fabric& before,
                         const ForwardingTables& old,
                         const Fabric& now,
                         Lid top) {
  std::size_t broken = 0;
  for (const SwitchIdx sw : now.switch_node.indices()) {
    for (std::size_t lid = 1; lid <= top.value(); ++lid) {
      const PortNum port = old.route(sw, Lid{static_cast<std::uint16_t>(lid)});
      const NodeIdx then = before.switch_node[sw], node = now.switch_node[sw];
      broken += port.value() != 0 && port.value() <= now.num_ports(node) &&
                before.peer[before.port_of(then, port)] != kNone<PortIdx> &&
                now.peer[now.port_of(node, port)] == kNone<PortIdx>;
    }
  }
  return broken;
}

RoutingTables lay(const char* engine,
                  const Fabric& before,
                  const RoutingTables& in_force,
                  const Fabric& now,
                  const LidMap& lids,
                  Laid& laid) {
  const PreviousRoutes previous{&before, &lids, &in_force};
  RoutingTables made = compute(engine, now, lids, {.in_force = &previous});
  const RouteReport report = check_routes(now, lids, made);
  EXPECT_TRUE(report.ok()) << print_cycle(now, report.cycle);
  EXPECT_TRUE(!made.notes.empty() || report.minimal == report.pairs);
  RoutingTables anew = compute(engine, now, lids);
  if (anew.vls != 1) return anew;
  ++laid.changes;
  if (made.vls != 1) return anew;
  EXPECT_NE(made.turns, nullptr);
  if (made.turns == nullptr || !made.recomputed) return made;
  ++laid.updates;
  EXPECT_EQ(count_faults(now, lids, made), 0u);
  laid.entries += count_differences(before, in_force.lft, now, made.lft, lids.top);
  laid.needed += count_broken(before, in_force.lft, now, lids.top);
  return made;
}

constexpr std::array kLaying{"dfsssp", "lash"};

// How often somebody looked and found nothing new is no part of what comes of a change.
void expect_no_hang_on_how_often_nothing_changed(const char* engine) {
  std::uint64_t trees = 0;
  std::size_t changes = 0;
  for (const Fabric& whole : list_trees()) {
    const LidMap lids = lids_in_order(whole);
    const RoutingTables first = compute(engine, whole, lids);
    if (first.vls != 1) continue;
    Rng rng{++trees};
    RoutingTables seldom = first, often = first;
    const Fabric* before = &whole;
    const auto drawn = draw_cables(whole, 2, rng);
    const Fabric hurt = without_cables(whole, {drawn[0]});
    const Fabric worse = without_cables(whole, drawn);
    for (const Fabric* now : {&hurt, &worse, &hurt, &whole}) {
      const auto update = [&](const Fabric& from, const RoutingTables& tables) {
        const PreviousRoutes previous{&from, &lids, &tables};
        return compute(engine, *now, lids, {.in_force = &previous});
      };
      seldom = update(*before, seldom);
      often = update(*before, often);
      EXPECT_EQ(often.lft, seldom.lft) << "tree " << trees << ", change " << changes;
      for (int i = 0; i < 2; ++i) often = update(*now, often);
      EXPECT_EQ(often.lft, seldom.lft) << "tree " << trees << ", change " << changes;
      before = now;
      ++changes;
    }
  }
  EXPECT_GE(trees, 6u);
}

TEST(PathsOfSwitches, LaidPathsDoNotHangOnHowOftenNothingChanged) {
  for (const char* engine : kLaying) expect_no_hang_on_how_often_nothing_changed(engine);
}

void expect_one_lane(const char* engine) {
  Laid laid;
  std::uint64_t trees = 0;
  for (const Fabric& whole : list_trees()) {
    const LidMap lids = lids_in_order(whole);
    RoutingTables tables = compute(engine, whole, lids);
    if (tables.vls != 1) continue;
    ++trees;
    ASSERT_NE(tables.turns, nullptr);
    ASSERT_EQ(count_faults(whole, lids, tables), 0u);
    Rng rng{trees};
    for (int step = 0; step < 6; ++step) {
      const auto drawn = draw_cables(whole, 2, rng);
      const Fabric hurt = without_cables(whole, {drawn[0]});
      const Fabric worse = without_cables(whole, drawn);
      tables = lay(engine, whole, tables, hurt, lids, laid);
      tables = lay(engine, hurt, tables, worse, lids, laid);
      tables = lay(engine, worse, tables, hurt, lids, laid);
      tables = lay(engine, hurt, tables, whole, lids, laid);
    }
  }
  std::printf("%zu changes, %zu of them kept on one lane, %zu entries changed, %zu had to\n",
              laid.changes,
              laid.updates,
              laid.entries,
              laid.needed);
  EXPECT_GE(trees, 6u);
  EXPECT_GE(laid.changes, 12 * trees);
  EXPECT_GE(10 * laid.updates, 8 * laid.changes);
  EXPECT_LE(laid.entries, 4 * laid.needed);
}

TEST(PathsOfSwitches, LaidPathsStayOnOneLaneOfATree) {
  for (const char* engine : kLaying) expect_one_lane(engine);
}

// What leads to them at the others has never gone, and closes no cycle now that it did not then.
TEST(PathsOfSwitches, ALeafThatComesBackFindsTheEntriesToItsHosts) {
  const Fabric whole = generated_fabric("fat-tree:k=8,levels=3");
  const LidMap lids = lids_in_order(whole);
  std::size_t returns = 0, kept = 0, moved = 0;
  for (const NodeIdx leaf : whole.switch_node) {
    std::set<NodeIdx> away{leaf};
    for (const PortIdx port : whole.external_ports(leaf)) {
      const NodeIdx peer = whole.node_of[whole.peer[port]];
      if (!whole.is_switch(peer)) away.insert(peer);
    }
    if (away.size() == 1 || away.contains(whole.sm_node)) continue;
    ++returns;
    const Fabric hurt = without_nodes(whole, away);
    const LidMap lids_then = same_lids(whole, lids, hurt);
    const RoutingTables first = compute("dfsssp", whole, lids);
    const PreviousRoutes in_force{&whole, &lids, &first};
    const RoutingTables then = compute("dfsssp", hurt, lids_then, {.in_force = &in_force});
    const PreviousRoutes then_in_force{&hurt, &lids_then, &then};
    const RoutingTables back = compute("dfsssp", whole, lids, {.in_force = &then_in_force});
    EXPECT_TRUE(check_routes(whole, lids, back).ok());
    for (const SwitchIdx sw : hurt.switch_node.indices()) {
      const auto now = whole.find_node(hurt.node_guid[hurt.switch_node[sw]]);
      for (std::uint16_t value = 1; value <= lids.top.value(); ++value) {
        const PortNum was = then.lft.route(sw, Lid{value});
        if (was == kNoRoute) continue;
        const bool same = back.lft.route(whole.switch_of[*now], Lid{value}) == was;
        ++(same ? kept : moved);
      }
    }
  }
  EXPECT_GT(returns, 30u);
  EXPECT_GT(kept, 100'000u);
  EXPECT_LT(10 * moved, returns);  // thirteen each where the way on is not known first
}

/// A tree of three levels without every n-th cable, in an order that a seed gives.
Fabric damaged_tree(std::size_t missing, std::uint64_t seed) {
  Reshaped tree{"fat-tree:k=8,levels=3"};
  auto cables = tree.cables();
  Rng rng{seed};
  for (std::size_t i = 0; i < missing; ++i) {
    std::swap(cables[i], cables[i + rng.below(cables.size() - i)]);
    tree.without_cable(cables[i].first, cables[i].second);
  }
  return tree.relabel(seed).build();
}

// Where cables are missing one switch after the other chooses, and the last found no way: all
// turned by switches that close a cycle together. Where too many are missing hosts turn from down
// to up.
TEST(PathsOfSwitches, TreesWithoutManyCablesStandOnOneLane) {
  for (const auto& [missing, lmc] : {std::pair{4u, 0}, {8u, 0}, {12u, 0}, {4u, 1}}) {
    std::size_t trees = 0, laid = 0, led = 0;
    for (std::uint64_t seed = 1; seed <= 8; ++seed) {
      const Fabric f = damaged_tree(missing, seed);
      const LidMap lids = lids_in_order(f, static_cast<std::uint8_t>(lmc));
      for (const char* engine : kLaying) {
        const RoutingTables tables = compute(engine, f, lids);
        EXPECT_TRUE(check_routes(f, lids, tables).ok()) << engine << " " << missing << " " << seed;
        expect_shortest_between_hosts(f, lids, tables);
        laid += tables.vls == 1;
      }
      led += lead(f, lids).report.ok();
      ++trees;
    }
    EXPECT_EQ(laid, kLaying.size() * trees) << missing << " " << lmc;
    EXPECT_EQ(led, trees) << missing << " " << lmc;
  }
}

// What was led by a spanning tree goes on with it.
TEST(PathsOfSwitches, ATreeWithoutManyCablesLosesMore) {
  std::size_t changes = 0, kept = 0;
  for (std::uint64_t seed = 1; seed <= 4; ++seed) {
    const Fabric f = damaged_tree(6, seed);
    const LidMap lids = lids_in_order(f);
    for (const char* engine : kLaying) {
      const RoutingTables first = compute(engine, f, lids);
      Rng rng{seed};
      for (int step = 0; step < 6; ++step) {
        const Fabric hurt = without_cables(f, draw_cables(f, 1, rng));
        Laid laid;
        const RoutingTables made = lay(engine, f, first, hurt, lids, laid);
        expect_shortest_between_hosts(hurt, lids, made);
        lay(engine, hurt, made, f, lids, laid);
        changes += 2;
        kept += laid.updates;
      }
    }
  }
  EXPECT_GE(10 * kept, 9 * changes);
}

}  // namespace paths_of_switches_test
}  // namespace smd::test

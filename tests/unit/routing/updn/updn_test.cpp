#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>

#include "smd/routing/graph/switch_graph.h"
#include "smd/routing/updn/islands.h"
#include "smd/routing/verify/channel_load.h"
#include "smd/routing/verify/check_routes.h"
#include "tests/unit/routing/support/fera_oracle.h"
#include "tests/unit/routing/support/generated.h"
#include "tests/unit/routing/support/paths.h"
#include "tests/unit/routing/support/thesis_tables.h"

namespace smd::test {
namespace updn_test {

using ::testing::AnyOf;
using ::testing::ElementsAre;
using ::testing::ElementsAreArray;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

RoutingRequest roots(const Fabric& fabric, std::initializer_list<const char*> names) {
  RoutingRequest request;
  for (const char* name : names)
    request.options.roots.push_back(fabric.node_guid[node(fabric, name)]);
  return request;
}

TEST(Updn, NeverGoesUpAfterDown) {
  //      S1
  //     /  \      H1 on S2, H2 on S3. S2-S4-S3 is as short as S2-S1-S3,
  //   S2    S3    but goes down and then up.
  //     \  /
  //      S4
  const Fabric f = fabric_from("S1-S2 S1-S3 S2-S4 S3-S4 H1-S2 H2-S3");
  const LidMap lids = lids_in_order(f);
  const RoutingTables tables = compute("updn", f, lids, roots(f, {"S1"}));
  EXPECT_THAT(path(f, lids, tables.lft, "H1", "H2"), ElementsAre("S2", "S1", "S3"));
  EXPECT_THAT(path(f, lids, tables.lft, "H2", "H1"), ElementsAre("S3", "S1", "S2"));
}

// Two equal fabrics have equal routes, wherever their LIDs begin.
TEST(Updn, TakesTheSameRoutesWhereLidsAreHigh) {
  const Generated g = generated("torus:dims=10.10,hosts=3");
  LidMap high = make_lid_map(g.fabric);
  const auto raised = [](Lid lid) { return Lid{static_cast<std::uint16_t>(lid.value() + 45'000)}; };
  for (const PortIdx port : g.lids.base.indices()) {
    if (g.lids.base[port] != kUnassignedLid) set_lid(high, port, raised(g.lids.base[port]), 0);
  }
  const RoutingTables from_one = compute("updn", g.fabric, g.lids);
  const RoutingTables from_high = compute("updn", g.fabric, high);
  ASSERT_GT(g.fabric.switch_count() * std::size_t{high.top.value()}, 4'000'000u);
  unsigned differing = 0;
  for (const SwitchIdx sw : g.fabric.switch_node.indices()) {
    for (const Lid lid : g.lids.base) {
      if (lid == kUnassignedLid) continue;
      differing += from_one.lft.route(sw, lid) != from_high.lft.route(sw, raised(lid)) ? 1 : 0;
    }
  }
  EXPECT_EQ(differing, 0u);
}

// What is kept are directions of switches, not how they are noted.
TEST(Updn, OfATreeTakesTheSameRoutesOverDirectionsThatAreKept) {
  const Generated g = generated("fat-tree:k=8,levels=3,missing=20,seed=5");
  const RoutingTables scratch = compute("updn", g.fabric, g.lids);
  Orientation without_ranks = scratch.orientation;
  without_ranks.rank.clear();
  Orientation of_more = scratch.orientation;
  of_more.by_guid.emplace_back(Guid{~std::uint64_t{0}}, 1);
  for (const Orientation& previous : {scratch.orientation, without_ranks, of_more})
    EXPECT_EQ(compute("updn", g.fabric, g.lids, {.previous = &previous}).lft, scratch.lft);
}

TEST(Updn, PrefersALongerWayDownToAShorterWayUp) {
  //      S1 ------.     S2 is two links from S7 over S1 (up), three over S5 (down). S4 stands above
  //     /  \       \    S2 and may count on its way down: had S2 gone up, packets from S4 would
  //   S4    |       |   turn from down to up.
  //     \  /        |
  //      S2-S5-S6-S7-H1
  const Fabric f = fabric_from("S1-S4 S4-S2 S1-S2 S2-S5 S5-S6 S6-S7 S1-S7 S7-H1");
  const std::pair<const char*, std::uint32_t> ranks[] = {
      {"S1", 0}, {"S4", 1}, {"S2", 2}, {"S5", 3}, {"S6", 4}, {"S7", 5}};
  Orientation previous;
  for (const auto& [name, rank] : ranks)
    previous.by_guid.emplace_back(f.node_guid[node(f, name)], rank);
  std::sort(previous.by_guid.begin(), previous.by_guid.end());
  const LidMap lids = lids_in_order(f);
  const RoutingTables tables = compute("updn", f, lids, {.previous = &previous});
  EXPECT_THAT(tables.altered, IsEmpty());
  EXPECT_THAT(path(f, lids, tables.lft, "S2", "H1"), ElementsAre("S2", "S5", "S6", "S7"));
  EXPECT_THAT(path(f, lids, tables.lft, "S4", "H1"), ElementsAre("S4", "S2", "S5", "S6", "S7"));
  EXPECT_THAT(path(f, lids, tables.lft, "S1", "H1"), ElementsAre("S1", "S7"));
  EXPECT_TRUE(check_routes(f, lids, tables.lft).ok());
}

TEST(FeraOracle, ReproducesTheThesisEntryForEntry) {
  const Fabric f = fabric_from(kFig76);
  const LidMap lids = lids_by_number(f);
  const RoutingTables tables = compute("updn", f, lids, roots(f, {"S1"}));
  std::vector<std::string> rows;
  for (unsigned lid = 1; lid <= 15; ++lid) {
    std::string row = std::to_string(lid) + ":";
    for (const FeraEntry& e : fera_flood(f, lids, tables.orientation, Lid(std::uint16_t(lid)))) {
      row += " " + f.description[f.switch_node[e.sw]].substr(1) + "→" +
             std::to_string(e.port.value()) + "(" + std::to_string(e.distance) + ")";
    }
    rows.push_back(row);
  }
  EXPECT_THAT(rows, ElementsAreArray(kTable18));
}

TEST(Updn, RoutesAreAsLongAsTheFloodMakesThem) {
  const Fabric f = fabric_from(kFig76);
  const LidMap lids = lids_by_number(f);
  const RoutingTables tables = compute("updn", f, lids, roots(f, {"S1"}));
  unsigned entries = 0;
  for (const PortIdx owner : lids.owner) {
    if (owner == kNone<PortIdx>) continue;
    const unsigned last = f.is_switch(f.node_of[owner]) ? 0 : 1;  // the cable to the host
    for (const FeraEntry& e : fera_flood(f, lids, tables.orientation, lids.base[owner])) {
      const auto switches =
          path(f, tables.lft, f.description[f.switch_node[e.sw]], lids.base[owner]);
      EXPECT_EQ(switches.size() - 1 + last, e.distance);
      ++entries;
    }
  }
  EXPECT_EQ(entries, 120u) << "8 switches, 15 destinations";
}

TEST(Updn, OnlyTwoTurnsAreForbiddenInTheThesisExample) {
  // Cut nodes: 6 and 10, each between its two up ports, 1 and 2.
  const Fabric f = fabric_from(kFig76);
  const LidMap lids = lids_by_number(f);
  const Orientation o = compute("updn", f, lids, roots(f, {"S1"})).orientation;
  const SwitchGraph graph{f};
  std::vector<std::string> cut;
  for (const SwitchIdx sw : f.switch_node.indices()) {
    unsigned up = 0;
    for (const SwitchEdge& edge : graph.edges(sw)) {
      if (fera_above(f, o, edge.to, sw)) ++up;
    }
    if (up >= 2) cut.push_back(f.description[f.switch_node[sw]]);
  }
  EXPECT_THAT(cut, ElementsAre("S6", "S10"));
}

// The 8-switch network of Flich's thesis, three links per switch; S0 is the root.
constexpr const char* kFlich =
    "S0-S2 S0-S4 S0-S5 S1-S2 S1-S5 S1-S6 S2-S7 S3-S5 S3-S6 S3-S7 S4-S6 S4-S7 "
    "S0-H0 S1-H1 S2-H2 S3-H3 S4-H4 S5-H5 S6-H6 S7-H7";

class Flich : public ::testing::Test {
 protected:
  const Fabric f = fabric_from(kFlich);
  const LidMap lids = lids_in_order(f);
  const RoutingTables tables = compute("updn", f, lids, roots(f, {"S0"}));
};

TEST_F(Flich, Levels) {
  const std::pair<const char*, unsigned> levels[] = {
      {"S0", 0}, {"S2", 1}, {"S4", 1}, {"S5", 1}, {"S1", 2}, {"S3", 2}, {"S6", 2}, {"S7", 2}};
  for (const auto& [name, level] : levels)
    EXPECT_EQ(tables.orientation.rank[switch_named(f, name)], level) << name;
}

TEST_F(Flich, ForbiddenTurns) {
  const SwitchGraph graph{f};
  std::vector<std::string> by_switch;
  unsigned possible = 0;
  for (const SwitchIdx sw : f.switch_node.indices()) {
    const unsigned degree = static_cast<unsigned>(graph.edges(sw).size());
    unsigned up = 0;
    for (const SwitchEdge& edge : graph.edges(sw))
      up += fera_above(f, tables.orientation, edge.to, sw);
    possible += degree * (degree - 1);
    if (up >= 2)
      by_switch.push_back(f.description[f.switch_node[sw]] + " " + std::to_string(up * (up - 1)));
  }
  EXPECT_EQ(possible, 48u);
  EXPECT_THAT(by_switch, ElementsAre("S1 2", "S6 6", "S7 6"));
}

TEST_F(Flich, SwitchesWithOnlyUpLinksForwardNothing) {
  for (const PortIdx owner : lids.owner) {
    if (owner == kNone<PortIdx>) continue;
    for (const NodeIdx sw : f.switch_node) {
      const auto names = path(f, tables.lft, f.description[sw], lids.base[owner]);
      for (std::size_t i = 1; i + 1 < names.size(); ++i)
        EXPECT_THAT(names[i], ::testing::Not(AnyOf("S6", "S7")));
    }
  }
}

TEST_F(Flich, PublishedRoutes) {
  EXPECT_THAT(path(f, lids, tables.lft, "H4", "H1"),
              AnyOf(ElementsAre("S4", "S0", "S2", "S1"), ElementsAre("S4", "S0", "S5", "S1")));
  EXPECT_THAT(path(f, lids, tables.lft, "H4", "H2"), ElementsAre("S4", "S0", "S2"));
}

TEST_F(Flich, SixOf56SwitchPairsAreNotMinimal) {
  const Fabric bare =
      fabric_from("S0-S2 S0-S4 S0-S5 S1-S2 S1-S5 S1-S6 S2-S7 S3-S5 S3-S6 S3-S7 S4-S6 S4-S7");
  const LidMap bare_lids = lids_in_order(bare);
  const RouteReport report =
      check_routes(bare, bare_lids, compute("updn", bare, bare_lids, roots(bare, {"S0"})).lft);
  EXPECT_TRUE(report.ok());
  EXPECT_EQ(report.pairs, 56u);
  EXPECT_EQ(report.pairs - report.minimal, 6u);
}

TEST(Updn, ChoosesARootThatLeavesAFatTreeAllItsPaths) {
  const Fabric f = fabric_from(fat_tree_text(4));
  const LidMap lids = lids_in_order(f);
  const RoutingTables tables = compute("updn", f, lids);
  const RouteReport report = check_routes(f, lids, tables.lft);
  EXPECT_TRUE(report.ok());
  const LoadReport updn = measure_load(f, lids, tables.lft);
  const LoadReport minhop = measure_load(f, lids, compute("minhop", f, lids).lft);
  EXPECT_EQ(updn.max, 14u);
  EXPECT_EQ(updn.max, minhop.max);
  EXPECT_DOUBLE_EQ(updn.mean, minhop.mean) << "no route between hosts is longer than the shortest";

  const LoadReport from_core =
      measure_load(f, lids, compute("updn", f, lids, roots(f, {"S17"})).lft);
  EXPECT_GT(from_core.max, 3 * updn.max) << "why the choice matters";
}

TEST(Engines, SpreadFatTreesPerfectly) {
  // 128 hosts, 4 to a leaf, 16 to a pod. A channel above a leaf carries 4 * 124 / 4 paths, one
  // below a core 16 * 112 / 16, when all are used evenly. Counting entries instead of paths would
  // send all that reaches an aggregation switch over one of its four cores.
  const Fabric f = fabric_from(fat_tree_text(8));
  const LidMap lids = lids_in_order(f);
  for (const char* engine : {"minhop", "updn"}) {
    const LoadReport load = measure_load(f, lids, compute(engine, f, lids).lft);
    EXPECT_EQ(load.max, 124u) << engine;
    EXPECT_DOUBLE_EQ(load.mean, (124 + 112) / 2) << engine;
    EXPECT_DOUBLE_EQ(load.stddev, (124 - 112) / 2) << engine;
  }
}

TEST(Updn, ObeysTheRootGiven) {
  const Fabric f = fabric_from("S1-S2 S2-S3 S3-S4 S4-S1 H1-S1");
  const LidMap lids = lids_in_order(f);
  for (const char* name : {"S1", "S2", "S3", "S4"}) {
    const RoutingTables tables = compute("updn", f, lids, roots(f, {name}));
    EXPECT_EQ(tables.orientation.rank[switch_named(f, name)], 0u);
    EXPECT_THAT(tables.notes, IsEmpty());
  }
}

// S2 and S3 are leaves. With S1 and S4 on the top level neither could reach the other.
TEST(Updn, SeveralRootsReachEachOther) {
  const Fabric f = fabric_from("S1-S2 S1-S3 S4-S2 S4-S3 H1-S2 H2-S3");
  const LidMap lids = lids_in_order(f);
  const RoutingTables tables = compute("updn", f, lids, roots(f, {"S1", "S4"}));
  EXPECT_THAT(tables.notes, IsEmpty());
  const RouteReport report = check_routes(f, lids, tables.lft);
  EXPECT_TRUE(report.ok());
  EXPECT_EQ(report.minimal, report.pairs);
  IndexVector<SwitchIdx, std::uint32_t> level(4, 0);
  for (const char* root : {"S1", "S4"}) level[switch_named(f, root)] = 1;
  EXPECT_EQ(
      tables.orientation.rank,
      rank_by_levels(SwitchGraph{f}, list_switch_guids(f), find_targets(f, lids).hosts, level));
  EXPECT_NE(tables.orientation.rank, compute("updn", f, lids).orientation.rank)
      << "roots that are ignored would do as well";
}

TEST(Updn, RootsThatAreWorseThanNoneAreNotTaken) {
  // A leaf and a core: from there traffic between pods would be led through few cables.
  const Fabric f = fabric_from(fat_tree_text(4));
  const LidMap lids = lids_in_order(f);
  const RoutingTables tables = compute("updn", f, lids, roots(f, {"S17", "S1"}));
  ASSERT_EQ(tables.notes.size(), 1u);
  EXPECT_THAT(tables.notes[0], HasSubstr("chosen by trial, which is taken instead"));
  EXPECT_EQ(measure_load(f, lids, tables.lft).max, 14u);
}

TEST(Updn, SaysWhenARootIsNotThere) {
  const Fabric f = fabric_from("S1-S2 H1-S1");
  const RoutingTables tables =
      compute("updn", f, lids_in_order(f), {.options = {.roots = {Guid{0xabc}}}});
  EXPECT_THAT(tables.notes, ElementsAre("root 0x0000000000000abc is no switch of this fabric"));
}

TEST(Updn, UsesParallelLinksEvenly) {
  const Fabric f = fabric_from("S1-S2 S1-S2 S1-S2 S1-H1 S2-H2 S2-H3 S2-H4 S2-H5 S2-H6 S2-H7");
  const LidMap lids = lids_in_order(f);
  const RoutingTables tables = compute("updn", f, lids);
  std::map<unsigned, unsigned> used;
  for (const char* host : {"H2", "H3", "H4", "H5", "H6", "H7"})
    ++used[egress_of(f, lids, tables.lft, "S1", host)];
  EXPECT_THAT(used, ElementsAre(std::pair{1u, 2u}, std::pair{2u, 2u}, std::pair{3u, 2u}));
}

TEST(Engines, EachLidOfAPortTakesAnotherWayWhereThereIsOne) {
  //  S1 reaches S2 over S3, S4, S5 and S6.
  const Fabric f = fabric_from("S1-S3 S1-S4 S1-S5 S1-S6 S2-S3 S2-S4 S2-S5 S2-S6 S1-H1 S2-H2 S2-H3");
  const LidMap lids = lids_in_order(f, 2);
  for (const char* engine : {"minhop", "updn"}) {
    const RoutingTables tables = compute(engine, f, lids);
    for (const char* host : {"H2", "H3"}) {
      std::set<std::string> over;
      for (unsigned o = 0; o < 4; ++o) {
        const Lid lid{static_cast<std::uint16_t>(lids.base[end_port(f, host)].value() + o)};
        over.insert(path(f, tables.lft, "S1", lid).at(1));
      }
      EXPECT_EQ(over.size(), 4u) << engine << " " << host;
    }
    const RouteReport report = check_routes(f, lids, tables.lft);
    EXPECT_EQ(report.unreachable + report.loops, 0u);
  }
}

TEST(Minhop, MayCloseACycleOnARing) {
  //  A ring of five: shortest routes leave no choice, and turn at every switch both ways.
  const Fabric f = fabric_from(
      "S1:1-S2:2 S2:1-S3:2 S3:1-S4:2 S4:1-S5:2 S5:1-S1:2 S1-H1 S2-H2 S3-H3 S4-H4 S5-H5");
  const LidMap lids = lids_in_order(f);
  const RouteReport minhop = check_routes(f, lids, compute("minhop", f, lids).lft);
  EXPECT_EQ(minhop.minimal, minhop.pairs);
  EXPECT_FALSE(minhop.acyclic);
  EXPECT_EQ(print_cycle(f, minhop.cycle),
            "S1:1(VL0) -> S2:1(VL0) -> S3:1(VL0) -> S4:1(VL0) -> S5:1(VL0)");
  EXPECT_THAT(find_engine("minhop")->contract(), HasSubstr("credit loops"));
  EXPECT_TRUE(check_routes(f, lids, compute("updn", f, lids).lft).ok());
}

TEST(Engines, CopeWithEveryOddFabric) {
  for (const char* text : {"",
                           "S1",
                           "H1/1",
                           "H1-H2",
                           "S1-H1",
                           "S1:5-S1:5 S1-H1",
                           "S1:1-S1:2 S1-H1",
                           "S1-H1 S2-H2",
                           "S1-S2 S1-H1:1 S2-H1:2 S2-R1",
                           "S1/254 S1-H1",
                           "S1-S2 S2-S3 H1-H2"}) {
    const Fabric f = fabric_from(text);
    const LidMap lids = lids_in_order(f, 1);
    for (const std::string_view engine : engine_names()) {
      const auto tables = find_engine(engine)->compute(f, lids, {});
      if (!tables) {
        EXPECT_EQ(tables.error().code, Errc::Unsupported) << engine << " on " << text;
        EXPECT_FALSE(tables.error().context.empty()) << engine << " on " << text;
        continue;
      }
      EXPECT_EQ(tables->chosen_by.empty() ? tables->engine : tables->chosen_by, engine) << text;
      EXPECT_TRUE(check_routes(f, lids, *tables).ok()) << engine << " on " << text;
    }
  }
}

TEST(Registry, NamesAreSortedAndFound) {
  const std::vector<std::string_view> names = engine_names();
  EXPECT_THAT(names, ::testing::IsSupersetOf({"fera", "ftree", "minhop", "pira", "updn"}));
  EXPECT_TRUE(std::is_sorted(names.begin(), names.end()));
  EXPECT_EQ(std::adjacent_find(names.begin(), names.end()), names.end());
  for (const std::string_view name : engine_names()) {
    ASSERT_NE(find_engine(name), nullptr);
    EXPECT_EQ(find_engine(name)->name(), name);
    EXPECT_FALSE(find_engine(name)->contract().empty());
  }
  EXPECT_EQ(find_engine("file"), nullptr);
  EXPECT_EQ(find_engine(""), nullptr);
}

}  // namespace updn_test
}  // namespace smd::test

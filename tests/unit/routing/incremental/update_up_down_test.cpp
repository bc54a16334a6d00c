// What keeping routes does to fabrics that one can draw.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <set>

#include "smd/fabric/builder.h"
#include "smd/routing/graph/switch_graph.h"
#include "smd/routing/verify/channel_load.h"
#include "smd/routing/verify/check_routes.h"
#include "tests/unit/routing/support/generated.h"
#include "tests/unit/routing/support/paths.h"

namespace smd::test {
namespace update_up_down_test {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::IsSubsetOf;

struct Network {
  explicit Network(std::string_view text) : fabric(fabric_from(text)), lids(lids_by_name(fabric)) {}

  // S7 has LID 7, H7 LID 100 + 7, whoever else is there.
  static LidMap lids_by_name(const Fabric& fabric) {
    LidMap map = make_lid_map(fabric);
    for (const NodeIdx n : fabric.node_guid.indices()) {
      const std::string& name = fabric.description[n];
      const auto number = static_cast<std::uint16_t>(std::stoul(name.substr(1)));
      const PortIdx end = end_port(fabric, name);
      if (end == kNone<PortIdx>) continue;
      set_lid(map, end, Lid{static_cast<std::uint16_t>(number + (name[0] == 'H' ? 100 : 0))}, 0);
    }
    return map;
  }

  Fabric fabric;
  LidMap lids;
};

RoutingTables reroute(const Network& now,
                      const Network& before,
                      const RoutingTables& tables,
                      bool shorten_detours = false) {
  const PreviousRoutes in_force{&before.fabric, &before.lids, &tables};
  RoutingTables after =
      compute("updn",
              now.fabric,
              now.lids,
              {.options = {.shorten_detours = shorten_detours}, .in_force = &in_force});
  EXPECT_TRUE(check_routes(now.fabric, now.lids, after.lft).ok());
  return after;
}

// "S4:101": the entry of S4 for LID 101.
std::set<std::string> changed(const Network& now,
                              const RoutingTables& after,
                              const Network& before,
                              const RoutingTables& tables) {
  std::set<std::string> found;
  for (const NodeIdx n : now.fabric.switch_node) {
    const auto was = before.fabric.find_node(now.fabric.node_guid[n]);
    if (!was) continue;
    for (std::uint16_t lid = 1; lid < after.lft.blocks() * kLftBlockSize; ++lid) {
      if (after.lft.route(now.fabric.switch_of[n], Lid{lid}) !=
          tables.lft.route(before.fabric.switch_of[*was], Lid{lid}))
        found.insert(now.fabric.description[n] + ":" + std::to_string(lid));
    }
  }
  return found;
}

//      S1      Two leaves, S3 and S4, below two spines each reach by one cable.
//     /  \     .
//   S3    S4
//     \  /
//      S2
constexpr const char* kSquare =
    "S1:1-S3:1 S1:2-S4:1 S2:1-S3:2 S2:2-S4:2 S3:3-H1 S3:4-H2 S4:3-H3 S4:4-H4";
constexpr const char* kSquareWithoutS2S4 =
    "S1:1-S3:1 S1:2-S4:1 S2:1-S3:2 S2/2 S4/4 S3:3-H1 S3:4-H2 S4:3-H3 S4:4-H4";

TEST(Keep, OnlyWhatUsedALostLinkMoves) {
  const Network whole{kSquare};
  const Network broken{kSquareWithoutS2S4};
  const RoutingTables tables = compute("updn", whole.fabric, whole.lids);
  ASSERT_EQ(tables.orientation.rank[switch_named(whole.fabric, "S3")], 0u);
  // What S3 hands down to S2 for S4 and those behind it cannot stay: S2 can only climb now.
  std::set<std::string> wanted;
  for (const auto& [sw, port] : {std::pair{"S2", 2}, std::pair{"S4", 2}, std::pair{"S3", 2}}) {
    for (const int value : {1, 2, 3, 4, 101, 102, 103, 104}) {
      const Lid lid{static_cast<std::uint16_t>(value)};
      if (std::string{sw} == "S3" && value != 4 && value != 103 && value != 104) continue;
      if (tables.lft.route(switch_named(whole.fabric, sw), lid).value() == port)
        wanted.insert(std::string{sw} + ":" + std::to_string(value));
    }
  }
  EXPECT_EQ(changed(broken, reroute(broken, whole, tables), whole, tables), wanted);
}

TEST(Keep, ACableOfTheRootCostsNoMoreThanAnother) {
  //      S1        A fat tree oriented from its leaf S1. Without S1-S3 the switch S3 hangs below
  //     /  \       the leaf S4; what lies beyond S3 does not notice.
  //   S2    S3
  //   | \  / |
  //   |  S4  |
  //   S5     S6
  //   S7     S8
  //     \   /
  //      S9
  const std::string rest =
      "S1:1-S2:1 S2:2-S4:1 S3:2-S4:2 S2:3-S5:1 S3:3-S6:1 S5:2-S7:1 S6:2-S8:1 S7:2-S9:1 S8:2-S9:2 "
      "S1:3-H1 S4:3-H4 S9:3-H9 S1:4-H2 S4:4-H5 S9:4-H10";
  const Network whole{"S1:2-S3:1 " + rest};
  const Network broken{"S1/4 S3/3 " + rest};
  const RoutingTables tables =
      compute("updn",
              whole.fabric,
              whole.lids,
              {.options = {.roots = {whole.fabric.node_guid[node(whole.fabric, "S1")]}}});
  ASSERT_EQ(tables.orientation.rank[switch_named(whole.fabric, "S1")], 0u);
  const std::set<std::string> moved =
      changed(broken, reroute(broken, whole, tables), whole, tables);
  EXPECT_FALSE(moved.empty());
  for (const std::string& entry : moved) EXPECT_LT(entry, "S5") << "below S2 and S3";
}

TEST(Keep, ARestoredCableCarriesTrafficAgain) {
  const Network whole{kSquare};
  const Network broken{kSquareWithoutS2S4};
  const RoutingTables first = compute("updn", whole.fabric, whole.lids);
  const RoutingTables without = reroute(broken, whole, first);
  const RoutingTables again = reroute(whole, broken, without);
  const LoadReport then = measure_load(whole.fabric, whole.lids, first.lft);
  const LoadReport now = measure_load(whole.fabric, whole.lids, again.lft);
  EXPECT_EQ(now.max, then.max);
  EXPECT_LE(now.stddev, then.stddev * 1.05);
}

TEST(Keep, OfParallelCablesTheRestoredOneTakesItsShareAndNoMore) {
  const char* const hosts =
      " S1:5-H7 S2:5-H1 S2:6-H2 S2:7-H3 S2:8-H4 S2:9-H5 S2:10-H6 S2:11-H8 S2:12-H9 S2:13-H10";
  const Network three{std::string{"S1:1-S2:1 S1:2-S2:2 S1:3-S2:3"} + hosts};
  const Network two{std::string{"S1:1-S2:1 S1:2-S2:2"} + hosts};
  const RoutingTables tables = compute("updn", two.fabric, two.lids);
  const RoutingTables after = reroute(three, two, tables);
  std::map<unsigned, unsigned> used;
  for (int h : {1, 2, 3, 4, 5, 6, 8, 9, 10})
    ++used[egress_of(three.fabric, three.lids, after.lft, "S1", "H" + std::to_string(h))];
  EXPECT_THAT(used, ElementsAre(std::pair{1u, 3u}, std::pair{2u, 3u}, std::pair{3u, 3u}));
  EXPECT_EQ(changed(three, after, two, tables).size(), 3u) << "towards S1 there is one host";
}

TEST(Keep, WhatALostCableCarriedIsSpreadOverTheOthers) {
  const char* const hosts =
      " S1:5-H7 S2:5-H1 S2:6-H2 S2:7-H3 S2:8-H4 S2:9-H5 S2:10-H6 S2:11-H8 S2:12-H9 S2:13-H10"
      " S2:14-H11 S2:15-H12 S2:16-H13";
  const Network four{std::string{"S1:1-S2:1 S1:2-S2:2 S1:3-S2:3 S1:4-S2:4"} + hosts};
  const Network three{std::string{"S1:1-S2:1 S1:2-S2:2 S1:4-S2:4"} + hosts};
  const RoutingTables tables = compute("updn", four.fabric, four.lids);
  const RoutingTables after = reroute(three, four, tables);
  std::map<unsigned, unsigned> used;
  for (int h : {1, 2, 3, 4, 5, 6, 8, 9, 10, 11, 12, 13})
    ++used[egress_of(three.fabric, three.lids, after.lft, "S1", "H" + std::to_string(h))];
  EXPECT_THAT(used, ElementsAre(std::pair{1u, 4u}, std::pair{2u, 4u}, std::pair{4u, 4u}));
}

TEST(Keep, WhoComesBackFindsItsEntries) {
  const Network whole{kSquare};
  const Network without_h4{"S1:1-S3:1 S1:2-S4:1 S2:1-S3:2 S2:2-S4:2 S3:3-H1 S3:4-H2 S4:3-H3 S4/4"};
  const RoutingTables first = compute("updn", whole.fabric, whole.lids);
  const RoutingTables away = reroute(without_h4, whole, first);
  EXPECT_THAT(changed(without_h4, away, whole, first), IsEmpty());
  EXPECT_EQ(away.lft.top(), first.lft.top()) << "LID 104 is the highest";
  const RoutingTables back = reroute(whole, without_h4, away);
  EXPECT_EQ(back.lft, first.lft);
}

TEST(Keep, ANewHostMovesNobodyElse) {
  const Network whole{kSquare};
  const Network more{std::string{kSquare} + " S4:5-H5"};
  const RoutingTables tables = compute("updn", whole.fabric, whole.lids);
  const RoutingTables after = reroute(more, whole, tables);
  EXPECT_THAT(changed(more, after, whole, tables),
              ElementsAre("S1:105", "S2:105", "S3:105", "S4:105"));
}

TEST(Keep, AHostThatMovedIsRoutedAnewAndShortest) {
  const Network before{"S1:1-S3:1 S1:2-S4:1 S2:1-S3:2 S2:2-S4:2 S3:3-H1 S3:4-H2 S4:3-H3 S3:5-H4"};
  const Network after_move{kSquare};
  const RoutingTables tables = compute("updn", before.fabric, before.lids);
  const RoutingTables after = reroute(after_move, before, tables);
  EXPECT_THAT(changed(after_move, after, before, tables),
              IsSubsetOf({"S1:104", "S2:104", "S3:104", "S4:104"}));
  EXPECT_EQ(
      check_routes(after_move.fabric, after_move.lids, after.lft).hops,
      check_routes(
          after_move.fabric,
          after_move.lids,
          compute("updn", after_move.fabric, after_move.lids, {.previous = &tables.orientation})
              .lft)
          .hops);
}

TEST(Keep, ANewSwitchGetsRoutesAndShortensThoseOfOthers) {
  //  S1-S2-S3-S4 becomes a ring when S5 joins S1 and S4.
  const Network chain{"S1:1-S2:1 S2:2-S3:1 S3:2-S4:1 S1:3-H1 S2:3-H2 S3:3-H3 S4:3-H4"};
  const Network ring{
      "S1:1-S2:1 S2:2-S3:1 S3:2-S4:1 S1:3-H1 S2:3-H2 S3:3-H3 S4:3-H4 S5:1-S1:2 S5:2-S4:2 S5:3-H5"};
  const RoutingTables tables = compute("updn", chain.fabric, chain.lids);
  const RoutingTables after = reroute(ring, chain, tables);
  EXPECT_THAT(after.altered, IsEmpty());
  EXPECT_EQ(path(ring.fabric, ring.lids, after.lft, "S5", "H1"),
            (std::vector<std::string>{"S5", "S1"}));
  EXPECT_EQ(path(ring.fabric, ring.lids, after.lft, "S5", "H4"),
            (std::vector<std::string>{"S5", "S4"}));
}

TEST(Keep, DetoursStayUnlessAskedFor) {
  // A leaf uplink of a fat tree is lost: others came down over the aggregation switch that lost it,
  // which has only ways up now. In the pod of the root they are two links longer, else four.
  const Fabric f = fabric_from(fat_tree_text(8));
  const LidMap lids = lids_in_order(f);
  const Targets targets = find_targets(f, lids);
  SwitchIdx root{0};
  while (targets.hosts[root] == 0) root = SwitchIdx{root.value() + 1};
  const RoutingTables tables =
      compute("updn", f, lids, {.options = {.roots = {f.node_guid[f.switch_node[root]]}}});
  const PreviousRoutes in_force{&f, &lids, &tables};
  for (const std::uint32_t rank : {2, 4}) {
    NodeIdx leaf = kNone<NodeIdx>;
    for (const SwitchIdx sw : f.switch_node.indices()) {
      if (tables.orientation.rank[sw] == rank && targets.hosts[sw] != 0) leaf = f.switch_node[sw];
    }
    ASSERT_NE(leaf, kNone<NodeIdx>);
    Fabric cut = f;
    for (const PortIdx p : f.external_ports(leaf)) {
      if (f.peer[p] == kNone<PortIdx> || !f.is_switch(f.node_of[f.peer[p]])) continue;
      cut.peer[f.peer[p]] = kNone<PortIdx>;
      cut.peer[p] = kNone<PortIdx>;
      break;
    }
    const RoutingTables repaired = compute("updn", cut, lids, {.in_force = &in_force});
    const RoutingTables shortened =
        compute("updn", cut, lids, {.options = {.shorten_detours = true}, .in_force = &in_force});
    const RouteReport long_paths = check_routes(cut, lids, repaired.lft);
    const RouteReport short_paths = check_routes(cut, lids, shortened.lft);
    EXPECT_TRUE(long_paths.ok());
    EXPECT_TRUE(short_paths.ok());
    EXPECT_LT(short_paths.hops, long_paths.hops) << rank;
    EXPECT_LT(measure_load(cut, lids, shortened.lft).stddev,
              measure_load(cut, lids, repaired.lft).stddev);
  }
}

TEST(Keep, ARestoredLinkTakesNoMoreThanTheOthersCarry) {
  //  S1 reaches S2 over S11, S12 and S13. The channels beyond S11 and S12 carry their own hosts'
  //  traffic too, so even the last of the six routes to S2 would better go over S13. But 14 paths
  //  leave S1 for S11, S12 and beyond, of which a third is 4.
  const std::string rest =
      "S1:1-S11:1 S1:2-S12:1 S2:1-S11:2 S2:2-S12:2 S2:3-S13:2 S1:9-H30 "
      "S2:11-H1 S2:12-H2 S2:13-H3 S2:14-H4 S2:15-H5 S2:16-H6 "
      "S11:11-H11 S11:12-H12 S11:13-H13 S11:14-H14 S12:11-H21 S12:12-H22 S12:13-H23 S12:14-H24 ";
  const Network two{rest + "S13/2"};
  const Network three{rest + "S1:3-S13:1"};
  const Guid root = two.fabric.node_guid[two.fabric.switch_node[switch_named(two.fabric, "S2")]];
  const RoutingTables tables =
      compute("updn", two.fabric, two.lids, {.options = {.roots = {root}}});
  const RoutingTables after = reroute(three, two, tables);
  unsigned moved = 0;
  for (int h = 1; h <= 6; ++h)
    moved += egress_of(three.fabric, three.lids, after.lft, "S1", "H" + std::to_string(h)) == 3;
  EXPECT_EQ(moved, 4u);
}

TEST(Keep, InAFatTreeALostAndRestoredCableLeavesTheLoadEven) {
  const Fabric f = fabric_from(fat_tree_text(8));
  const LidMap lids = lids_in_order(f);
  const RoutingTables tables = compute("updn", f, lids);
  const double even = measure_load(f, lids, tables.lft).stddev;
  int kept = 0;
  for (const NodeIdx n : f.switch_node) {
    if (n.value() % 7 != 0) continue;
    PortIdx cable = kNone<PortIdx>;
    for (const PortIdx p : f.external_ports(n)) {
      if (f.peer[p] != kNone<PortIdx> && f.is_switch(f.node_of[f.peer[p]])) cable = p;
    }
    Fabric cut = f;
    cut.peer[f.peer[cable]] = kNone<PortIdx>;
    cut.peer[cable] = kNone<PortIdx>;
    const PreviousRoutes whole{&f, &lids, &tables};
    const RoutingTables without = compute("updn", cut, lids, {.in_force = &whole});
    const PreviousRoutes broken{&cut, &lids, &without};
    const RoutingTables again = compute("updn", f, lids, {.in_force = &broken});
    if (!without.altered.empty()) continue;  // the top lost its only way: other routes are even now
    ++kept;
    EXPECT_LE(measure_load(f, lids, again.lft).stddev, even * 1.12) << print_port(f, cable);
  }
  EXPECT_EQ(kept, 11) << "whose lower end has another way up";
}

TEST(Keep, WhenMostIsNewEverythingIsRoutedAfresh) {
  const Network one{"S1:1-S2:1 S1:3-H1 S2:3-H2"};
  const Network many{
      "S1:1-S2:1 S1:3-H1 S2:3-H2 S1:2-S3:1 S2:2-S4:1 S3:2-S4:2 S3:3-H3 S4:3-H4 S5:1-S4:4"};
  const RoutingTables tables = compute("updn", one.fabric, one.lids);
  const RoutingTables after = reroute(many, one, tables);
  EXPECT_EQ(after.lft,
            compute("updn", many.fabric, many.lids, {.previous = &tables.orientation}).lft);
}

TEST(Keep, IslandsThatGrowTogetherReachEachOther) {
  const Network apart{"S1:1-S2:1 S1:3-H1 S2:3-H2 S3:1-S4:1 S3:3-H3 S4:3-H4"};
  const Network joined{"S1:1-S2:1 S1:3-H1 S2:3-H2 S3:1-S4:1 S3:3-H3 S4:3-H4 S2:2-S3:2"};
  const RoutingTables tables = compute("updn", apart.fabric, apart.lids);
  const RoutingTables after = reroute(joined, apart, tables);
  EXPECT_EQ(path(joined.fabric, joined.lids, after.lft, "S1", "H4"),
            (std::vector<std::string>{"S1", "S2", "S3", "S4"}));
}

//  S1 ═══ S2 by four cables; behind S2 a switch for each of the hosts H1 … H8, H9 at S1.
constexpr const char* kBehind =
    "S1:1-S2:1 S1:2-S2:2 S1:3-S2:3 S1:4-S2:4 S2-S3 S2-S4 S2-S5 S2-S6 S2-S7 S2-S8 S2-S9 S2-S10 "
    "H1-S3 H2-S4 H3-S5 H4-S6 H5-S7 H6-S8 H7-S9 H8-S10 H9-S1";

// LIDs of H1 … H8 by the port that S1, the root, sends them out, after its fourth cable was lost.
std::vector<unsigned> leaving_without_fourth(const Fabric& whole) {
  RoutingRequest request;
  request.options.roots = {whole.node_guid[whole.switch_node[switch_named(whole, "S1")]]};
  Fabric cut = whole;
  const PortIdx lost = port(cut, "S1:4");
  cut.peer[cut.peer[lost]] = kNone<PortIdx>;
  cut.peer[lost] = kNone<PortIdx>;
  const LidMap lids = lids_in_order(whole);
  const RoutingTables first = compute("updn", whole, lids, request);
  const PreviousRoutes before{&whole, &lids, &first};
  RoutingRequest again = request;
  again.previous = &first.orientation;
  again.in_force = &before;
  const RoutingTables after = compute("updn", cut, lids, again);
  EXPECT_TRUE(after.recomputed);
  std::vector<unsigned> by_port(5, 0);
  for (const char* host : {"H1", "H2", "H3", "H4", "H5", "H6", "H7", "H8"})
    ++by_port.at(egress_of(whole, lids, after.lft, "S1", host));
  return by_port;
}

TEST(Keep, WhatALostCableCarriedGoesWhereLinksAreFast) {
  Fabric f = fabric_from(kBehind);
  EXPECT_EQ(leaving_without_fourth(f), (std::vector{0u, 3u, 3u, 2u, 0u}));
  for (const char* slow : {"S1:3", "S1:4", "S2:3", "S2:4"})
    f.port_info[port(f, slow)].link_speed_active = 1;
  for (const PortIdx p : f.peer.indices()) {
    f.port_info[p].link_width_active = 2;
    if (f.port_info[p].link_speed_active == 0) f.port_info[p].link_speed_active = 4;
  }
  EXPECT_EQ(leaving_without_fourth(f)[3], 1u);
}

TEST(Keep, WhatALostCableCarriedGoesWhereLessIsDrawn) {
  const Fabric bare = fabric_from(kBehind);
  const Fabric f = *with_traffic(bare,
                                 std::make_shared<const SiteNodes>(SiteNodes{
                                     .weights = {{bare.port_guid[end_port(bare, "H1")], 50}}}));
  const std::vector<unsigned> by_port = leaving_without_fourth(f);
  EXPECT_EQ(by_port[1], 1u) << "the one of H1";
  EXPECT_EQ(by_port[2] + by_port[3], 7u);
}

// Packets that turn up again are in no count of loads: of another manager's routes, found and kept,
// nothing is noted that later changes would go by.
TEST(KeepUpDown, LoadsOfRoutesThatObeyOtherDirectionsAreNotNoted) {
  const Fabric ring = fabric_from("S1-S2 S2-S3 S3-S4 S4-S1 H1-S1 H2-S2 H3-S3 H4-S4");
  const Fabric wider = fabric_from("S1-S2 S2-S3 S3-S4 S4-S1 H1-S1 H2-S2 H3-S3 H4-S4 S1-S2");
  const LidMap lids = lids_in_order(ring);
  const LidMap lids_wider = lids_in_order(wider);
  RoutingTables in_force = compute("updn", ring, lids, rooted(ring, "S1"));
  for (const bool obeyed : {true, false}) {
    if (!obeyed) in_force.orientation.rank.clear();
    const PreviousRoutes previous{&ring, &lids, &in_force};
    RoutingRequest request = rooted(wider, "S1");
    request.in_force = &previous;
    const RoutingTables now = compute("updn", wider, lids_wider, request);
    ASSERT_TRUE(now.recomputed);
    EXPECT_EQ(now.load.by_edge.empty(), !obeyed);
  }
}

}  // namespace update_up_down_test
}  // namespace smd::test

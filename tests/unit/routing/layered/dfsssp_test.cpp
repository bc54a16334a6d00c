#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <map>

#include "smd/fabric/builder.h"
#include "smd/routing/verify/channel_load.h"
#include "smd/routing/verify/check_routes.h"
#include "tests/unit/routing/support/paths.h"
#include "tests/unit/routing/support/random_fabric.h"
#include "tests/unit/routing/support/trees.h"

namespace smd::test {
namespace dfsssp_test {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr const char* kRing5 = "S1-S2 S2-S3 S3-S4 S4-S5 S5-S1 S1-H1 S2-H2 S3-H3 S4-H4 S5-H5";

RoutingTables dfsssp(const Fabric& f, const LidMap& lids, const RoutingRequest& request = {}) {
  return find_engine("dfsssp")->compute(f, lids, request).value();
}

unsigned sl(
    const Fabric& f, const LidMap& lids, const RoutingTables& t, const char* from, const char* to) {
  return t.path_sls.sl(switch_named(f, from), lids.base[end_port(f, to)]);
}

// Paths from hosts to base LIDs of hosts that leave a switch by each of its ports.
std::map<unsigned, unsigned> loads_at(const Fabric& f,
                                      const LidMap& lids,
                                      const ForwardingTables& tables,
                                      const char* sw) {
  std::map<unsigned, unsigned> loads;
  for (const NodeIdx from : f.node_guid.indices()) {
    for (const NodeIdx to : f.node_guid.indices()) {
      if (from == to || f.is_switch(from) || f.is_switch(to)) continue;
      const auto names = path(f, lids, tables, f.description[from], f.description[to]);
      for (std::size_t at = 0; at + 1 < names.size(); ++at) {
        if (names[at] == sw) ++loads[egress_of(f, lids, tables, sw, f.description[to])];
      }
    }
  }
  return loads;
}

void set_speed(Fabric& f, const char* name, LinkSpeed speed) {
  const PortIdx here = port(f, name);
  for (const PortIdx end : {here, f.peer[here]}) {
    set_active_speed(f.port_info[end], speed);
    f.port_info[end].link_width_active = static_cast<std::uint8_t>(LinkWidth::X4);
  }
}

TEST(Dfsssp, ARingOfFiveNeedsTwoLanes) {
  const Fabric f = fabric_from(kRing5);
  const LidMap lids = lids_in_order(f);
  const RoutingTables tables = dfsssp(f, lids);
  EXPECT_EQ(tables.vls, 2u);
  const RouteReport report = check_routes(f, lids, tables);
  EXPECT_TRUE(report.ok());
  EXPECT_EQ(report.minimal, report.pairs);
  EXPECT_FALSE(check_routes(f, lids, tables.lft).acyclic) << "one lane would do";
}

TEST(Dfsssp, SaysHowManyLanesAreMissing) {
  const Fabric f = fabric_from(kRing5);
  const auto tables = find_engine("dfsssp")->compute(f, lids_in_order(f), {.max_vls = 1});
  ASSERT_FALSE(tables);
  EXPECT_EQ(tables.error().code, Errc::Unsupported);
  EXPECT_THAT(tables.error().context, HasSubstr("need 2 data VLs"));
  EXPECT_THAT(tables.error().context, HasSubstr("1 data VL may be used"));
}

TEST(Dfsssp, TakesTheLanesThatTheLinksHaveWhereNobodySaysHowMany) {
  Fabric f = fabric_from(kRing5);
  const PortIdx weak = port(f, "S3:1");
  f.port_info[weak].vl_cap = 1;  // VL0 alone
  EXPECT_FALSE(find_engine("dfsssp")->compute(f, lids_in_order(f), {}));
  EXPECT_TRUE(find_engine("dfsssp")->compute(f, lids_in_order(f), {.max_vls = 2}));
}

// Its row is written modulo the VLs that it has: it discards nothing, and closes no circle.
TEST(Dfsssp, AnAdapterWithFewerLanesTakesPackets) {
  Fabric f = fabric_from(kRing5);
  f.port_info[port(f, "H1:1")].vl_cap = 1;  // VL0 alone
  const LidMap lids = lids_in_order(f);
  const RoutingTables tables = dfsssp(f, lids, {.max_vls = 2});
  ASSERT_EQ(tables.vls, 2u);
  EXPECT_TRUE(check_routes(f, lids, tables).ok());
  for (const PortIdx each : f.peer.indices()) f.port_info[each].vl_cap = 1;
  EXPECT_FALSE(check_routes(f, lids, tables).ok()) << "cables between switches, too";
}

TEST(Dfsssp, BothDirectionsHaveOneSl) {
  const Fabric f = fabric_from(kRing5);
  const LidMap lids = lids_in_order(f);
  const RoutingTables tables = dfsssp(f, lids);
  for (const auto& [a, b] : {std::pair{1, 2}, {1, 3}, {1, 4}, {2, 4}, {2, 5}, {3, 5}}) {
    const std::string here = std::to_string(a);
    const std::string there = std::to_string(b);
    EXPECT_EQ(sl(f, lids, tables, ("S" + here).c_str(), ("H" + there).c_str()),
              sl(f, lids, tables, ("S" + there).c_str(), ("H" + here).c_str()));
  }
  EXPECT_TRUE(tables.notes.empty());
}

TEST(Dfsssp, WhatOneLaneServesMayTakeAnySl) {
  const Fabric f = fabric_from("S1-S2 S2-S3 S1-H1 S2-H2 S3-H3");
  const LidMap lids = lids_in_order(f);
  const RoutingTables tables = dfsssp(f, lids, {.max_vls = 1});
  EXPECT_EQ(tables.vls, 1u);
  EXPECT_TRUE(tables.path_sls.empty());
  EXPECT_TRUE(check_routes(f, lids, tables, {.any_sl = true}).ok());
}

TEST(Dfsssp, AFatTreeOfTwoLevelsNeedsOneLane) {
  // Also between its spines: all their paths meet at one leaf.
  std::string text;
  for (const char* const leaf : {"S1", "S2", "S3"}) {
    for (const char* const spine : {"S4", "S5"}) text += std::string{leaf} + "-" + spine + " ";
  }
  const Fabric f = fabric_from(text + "S1-H1 S1-H2 S2-H3 S2-H4 S3-H5 S3-H6");
  const LidMap lids = lids_in_order(f);
  const RoutingTables tables = dfsssp(f, lids, {.max_vls = 1});
  const RouteReport report = check_routes(f, lids, tables);
  EXPECT_TRUE(report.ok());
  EXPECT_EQ(report.minimal, report.pairs);
}

TEST(Dfsssp, PathsToTheMiddleOfAFatTreeCostNoLane) {
  const Fabric f = fabric_from(fat_tree_text(4));
  const LidMap lids = lids_in_order(f);
  const RoutingTables tables = dfsssp(f, lids, {.max_vls = 1});
  const RouteReport report = check_routes(f, lids, tables);
  EXPECT_TRUE(report.ok());
  EXPECT_EQ(tables.notes.size(), 1u);
  for (const char* const from : {"H1", "H5", "H16"}) {
    for (const char* const to : {"H2", "H3", "H8", "H12", "S3", "S4", "S17", "S20"}) {
      const std::size_t links = path(f, lids, tables.lft, from, to).size() - 1;
      EXPECT_EQ(links, path(f, lids, compute("minhop", f, lids).lft, from, to).size() - 1);
    }
  }
}

// Two full channels, and nobody who could leave them: switches that no path passes on the way to a
// LID send over the other one.
TEST(Dfsssp, SwitchesThatNobodyPassesMakeWay) {
  const Fabric whole = generated_fabric("pgft:levels=3,down=2.3.3,up=1.2.3,parallel=1.2.1");
  const LidMap all = lids_in_order(whole);
  EXPECT_EQ(measure_load(whole, all, dfsssp(whole, all).lft).max, 12u)
      << "no routes have less; 16 where such switches stay";
  const Fabric f =
      without_nodes(without_cables(whole, {port(whole, "sw-1-0:9")}), {node(whole, "sw-2-0")});
  const LidMap lids = lids_in_order(f);
  const RoutingTables tables = dfsssp(f, lids);
  EXPECT_EQ(tables.vls, 1u);
  EXPECT_TRUE(check_routes(f, lids, tables).ok());
  EXPECT_EQ(measure_load(f, lids, tables.lft).max, 18u) << "24 before";
}

TEST(Dfsssp, ParallelLinksShareTheLoad) {
  const Fabric f =
      fabric_from("S1:1-S2:1 S1:2-S2:2 S1:3-S2:3 S1-H1 S1-H2 S2-H3 S2-H4 S2-H5 S2-H6 S2-H7 S2-H8");
  const LidMap lids = lids_in_order(f);
  EXPECT_THAT(loads_at(f, lids, dfsssp(f, lids).lft, "S1"),
              ElementsAre(std::pair{1, 4}, std::pair{2, 4}, std::pair{3, 4}));
}

TEST(Dfsssp, ASlowLinkTakesLess) {
  // SDR 4x carries 8 Gbit/s, QDR 4x 32.
  Fabric f = fabric_from(
      "S1:1-S2:1 S1:2-S2:2 S1-H1 S2-H3 S2-H4 S2-H5 S2-H6 S2-H7 S2-H8 S2-H9 S2-H10 S2-H11 S2-H12");
  set_speed(f, "S1:1", LinkSpeed::Sdr);
  set_speed(f, "S1:2", LinkSpeed::Qdr);
  const LidMap lids = lids_in_order(f);
  EXPECT_THAT(loads_at(f, lids, dfsssp(f, lids).lft, "S1"),
              ElementsAre(std::pair{1, 2}, std::pair{2, 8}));
}

TEST(Dfsssp, AnIoNodeThatNobodyCountsLeavesItsLinkToOthers) {
  const Fabric f = fabric_from("S1:1-S2:1 S1:2-S2:2 S1-H1 S2-H3 S2-H4 S2-H5");
  const LidMap lids = lids_in_order(f);
  const Guid io = f.port_guid[end_port(f, "H3")];
  const auto egress = [&](const RoutingTables& t, const char* to) {
    return egress_of(f, lids, t.lft, "S1", to);
  };
  const RoutingTables even = dfsssp(f, lids);
  EXPECT_EQ(egress(even, "H3"), 1u);
  EXPECT_EQ(egress(even, "H4"), 2u);
  EXPECT_EQ(egress(even, "H5"), 1u);
  const auto weighed = [&](std::uint32_t weight) {
    return *with_traffic(f,
                         std::make_shared<const SiteNodes>(SiteNodes{.weights = {{io, weight}}}));
  };
  const RoutingTables idle = dfsssp(weighed(0), lids);
  EXPECT_EQ(egress(idle, "H4"), 1u);
  EXPECT_EQ(egress(idle, "H5"), 2u);
  const RoutingTables busy = dfsssp(weighed(5), lids);
  EXPECT_EQ(egress(busy, "H4"), 2u);
  EXPECT_EQ(egress(busy, "H5"), 2u);
}

TEST(Dfsssp, TheLidsOfOnePortTakeDifferentPaths) {
  const Fabric f = fabric_from("S1-S2 S1-S3 S2-S4 S3-S4 S1-H1 S4-H4");
  const LidMap lids = lids_in_order(f, 1);
  const RoutingTables tables = dfsssp(f, lids);
  const Lid base = lids.base[end_port(f, "H4")];
  const Lid other{static_cast<std::uint16_t>(base.value() + 1)};
  EXPECT_NE(path(f, tables.lft, "H1", base), path(f, tables.lft, "H1", other));
  EXPECT_TRUE(check_routes(f, lids, tables).ok());
}

TEST(Dfsssp, WritesTheseTablesForASmallRing) {
  const Fabric f =
      fabric_from("S1:1-S2:2 S2:1-S3:2 S3:1-S4:2 S4:1-S1:2 S1:3-H1 S2:3-H2 S3:3-H3 S4:3-H4");
  const LidMap lids = lids_in_order(f);
  const RoutingTables tables = dfsssp(f, lids);
  std::string text;
  for (const char* const sw : {"S1", "S2", "S3", "S4"}) {
    text += sw;
    for (const char* const host : {"H1", "H2", "H3", "H4"}) {
      text += " " + std::to_string(egress_of(f, lids, tables.lft, sw, host));
      if (tables.vls > 1) text += "/" + std::to_string(sl(f, lids, tables, sw, host));
    }
    text += "\n";
  }
  EXPECT_EQ(text,
            "S1 3 1 1 2\n"
            "S2 2 3 1 2\n"
            "S3 1 2 3 1\n"
            "S4 1 2 2 3\n");
}

RC_GTEST_PROP(Dfsssp, IsMinimalAndFreeOfDeadlock, ()) {
  const Fabric f = fabric_from(*random_fabric_text());
  const LidMap lids = lids_in_order(f, *rc::gen::inRange<std::uint8_t>(0, 3));
  const auto tables = find_engine("dfsssp")->compute(f, lids, {.max_vls = 8});
  RC_ASSERT(tables.has_value());
  const RouteReport report = check_routes(f, lids, *tables);
  RC_ASSERT(report.first_faults == std::vector<std::string>{});
  RC_ASSERT(report.ok());
  // Between switches without hosts there may be detours, and then they are told.
  if (tables->notes.empty()) RC_ASSERT(report.minimal == report.pairs);
}

}  // namespace dfsssp_test
}  // namespace smd::test

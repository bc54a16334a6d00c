#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "smd/routing/verify/check_routes.h"
#include "tests/unit/routing/support/fera_oracle.h"
#include "tests/unit/routing/support/paths.h"
#include "tests/unit/routing/support/thesis_tables.h"

namespace smd::test {
namespace {

using ::testing::ElementsAre;
using ::testing::ElementsAreArray;
using ::testing::IsEmpty;

Orientation ranks(const Fabric& f,
                  std::initializer_list<std::pair<const char*, std::uint32_t>> list) {
  Orientation o;
  for (const auto& [name, rank] : list) o.by_guid.emplace_back(f.node_guid[node(f, name)], rank);
  std::sort(o.by_guid.begin(), o.by_guid.end());
  return o;
}

TEST(FeraFlood, FindsThePublishedEntriesInThePublishedOrder) {
  const Fabric f = fabric_from(kFig76);
  const LidMap lids = lids_by_number(f);
  const RoutingTables tables = compute("fera-flood", f, lids);
  std::vector<std::string> rows;
  Lid current;
  for (const ComputedEntry& e : tables.sequence) {
    if (e.lid != current) rows.push_back(std::to_string(e.lid.value()) + ":");
    current = e.lid;
    rows.back() += " " + f.description[f.switch_node[e.sw]].substr(1) + "→" +
                   std::to_string(e.egress.value()) + "(" + std::to_string(e.distance) + ")";
    EXPECT_EQ(tables.lft.route(e.sw, e.lid), e.egress);
  }
  EXPECT_THAT(rows, ElementsAreArray(kTable18));
  EXPECT_EQ(tables.sequence.size(), 120u) << "8 switches, 15 destinations";
}

TEST(Fera, TheTwoPhaseFormMakesThePublishedTables) {
  const Fabric f = fabric_from(kFig76);
  const LidMap lids = lids_by_number(f);
  EXPECT_EQ(compute("fera", f, lids).lft, compute("fera-flood", f, lids).lft);
  EXPECT_THAT(compute("fera", f, lids).sequence, IsEmpty());
}

TEST(Fera, TheManagersSwitchIsTheRootUnlessAnotherIsNamed) {
  const Fabric by_switch = fabric_from("S1-S2 S2-S3 S3-S4 S4-H1 S1-H2");
  const Fabric by_host = fabric_from("H1-S4 S1-S2 S2-S3 S3-S4 S1-H2");
  for (const char* engine : {"fera", "fera-flood", "pira"}) {
    const LidMap lids = lids_in_order(by_switch);
    const RoutingTables here = compute(engine, by_switch, lids);
    EXPECT_EQ(here.orientation.rank[switch_named(by_switch, "S1")], 0u);
    EXPECT_EQ(here.orientation.rank[switch_named(by_switch, "S4")], 3u);
    const RoutingTables there = compute(engine, by_host, lids_in_order(by_host));
    EXPECT_EQ(there.orientation.rank[switch_named(by_host, "S4")], 0u);
    const RoutingTables named =
        compute(engine,
                by_switch,
                lids,
                {.options = {.roots = {by_switch.node_guid[node(by_switch, "S3")]}}});
    EXPECT_EQ(named.orientation.rank[switch_named(by_switch, "S3")], 0u);
  }
}

//   S1-----S7-H1    S2 reaches S7 upwards over S1 in two links (port 1), downwards over S5 in three
//   | \             (port 3). S4 stands above S2 and comes down to it: S2 must go on downwards.
//   |  S4
//   | /
//   S2-S5-S6-S7
constexpr const char* kDownFirst =
    "S1:1-S4:1 S4:2-S2:2 S1:2-S2:1 S2:3-S5:1 S5:2-S6:1 S6:2-S7:1 S1:3-S7:2 S7:3-H1:1";

TEST(Fera, GoesDownWhereItCanEvenIfUpIsShorter) {
  const Fabric f = fabric_from(kDownFirst);
  const Orientation previous =
      ranks(f, {{"S1", 0}, {"S4", 1}, {"S2", 2}, {"S5", 3}, {"S6", 4}, {"S7", 5}});
  const LidMap lids = lids_in_order(f);
  for (const char* engine : {"fera", "fera-flood"}) {
    const RoutingTables tables = compute(engine, f, lids, {.previous = &previous});
    EXPECT_THAT(tables.altered, IsEmpty());
    EXPECT_EQ(egress_of(f, lids, tables.lft, "S2", "H1"), 3u) << engine;
    EXPECT_EQ(egress_of(f, lids, tables.lft, "S4", "H1"), 2u) << engine;
    EXPECT_THAT(path(f, lids, tables.lft, "S4", "H1"), ElementsAre("S4", "S2", "S5", "S6", "S7"));
    EXPECT_TRUE(check_routes(f, lids, tables.lft).ok());
  }
}

TEST(FeraFlood, KeepsTheReplacedEntryInItsSequence) {
  const Fabric f = fabric_from(kDownFirst);
  const Orientation previous =
      ranks(f, {{"S1", 0}, {"S4", 1}, {"S2", 2}, {"S5", 3}, {"S6", 4}, {"S7", 5}});
  const LidMap lids = lids_in_order(f);
  const RoutingTables tables = compute("fera-flood", f, lids, {.previous = &previous});
  std::vector<unsigned> exits;
  for (const ComputedEntry& e : tables.sequence) {
    if (e.sw == switch_named(f, "S2") && e.lid == lids.base[end_port(f, "H1")])
      exits.push_back(e.egress.value());
  }
  EXPECT_THAT(exits, ElementsAre(1u, 3u)) << "up first, since that is shorter, then down";
}

TEST(Fera, OfEqualExitsTheOneThatTheFloodFindsFirst) {
  //  S1 reaches S4 over S2 and S3, which S4 floods in the order of its ports: S3 first.
  const Fabric f = fabric_from("S1:1-S2:1 S1:2-S3:1 S4:2-S2:2 S4:1-S3:2 S4:3-H1 S4:4-H2");
  const LidMap lids = lids_in_order(f);
  for (const char* engine : {"fera", "fera-flood"}) {
    const RoutingTables tables = compute(engine, f, lids);
    EXPECT_EQ(egress_of(f, lids, tables.lft, "S1", "H1"), 2u) << engine;
    EXPECT_EQ(egress_of(f, lids, tables.lft, "S1", "H2"), 2u) << "nothing is spread";
  }
}

TEST(Fera, ParallelLinksGoByThePortOfTheNearerSwitch) {
  const Fabric f = fabric_from("S1:1-S2:5 S1:2-S2:4 S2:1-H1 S1:3-H2");
  const LidMap lids = lids_in_order(f);
  for (const char* engine : {"fera", "fera-flood"}) {
    const RoutingTables tables = compute(engine, f, lids);
    EXPECT_EQ(egress_of(f, lids, tables.lft, "S1", "H1"), 2u) << engine;
    EXPECT_EQ(egress_of(f, lids, tables.lft, "S2", "H2"), 5u) << engine;
  }
}

TEST(Fera, KeepsTheOrientationOfTheRequest) {
  const Fabric f = fabric_from("S1-S2 S2-S3 S1-S3 S3-H1");
  const Orientation previous = ranks(f, {{"S1", 2}, {"S2", 1}, {"S3", 0}});
  for (const char* engine : {"fera", "fera-flood", "pira"}) {
    const RoutingTables tables = compute(engine, f, lids_in_order(f), {.previous = &previous});
    EXPECT_EQ(tables.orientation.by_guid, previous.by_guid) << engine;
    EXPECT_THAT(tables.altered, IsEmpty());
  }
}

}  // namespace
}  // namespace smd::test

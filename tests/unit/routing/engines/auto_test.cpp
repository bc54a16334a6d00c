#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include "smd/routing/verify/check_routes.h"
#include "tests/unit/routing/support/generated.h"
#include "tests/unit/routing/support/random_fabric.h"

namespace smd::test {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

struct Choice {
  const char* call;
  const char* engine;
};

void PrintTo(const Choice& row, std::ostream* os) { *os << row.call; }

class AutoChooses : public ::testing::TestWithParam<Choice> {};

TEST_P(AutoChooses, TheEngineOfTheShape) {
  const Generated g = generated(GetParam().call);
  const RoutingTables tables = compute("auto", g.fabric, g.lids);
  EXPECT_EQ(tables.engine, GetParam().engine);
  EXPECT_EQ(tables.chosen_by, "auto");
  ASSERT_FALSE(tables.notes.empty());
  EXPECT_THAT(tables.notes[0], StartsWith("auto: " + tables.engine + ", "));
  EXPECT_TRUE(check_routes(g.fabric, g.lids, tables).ok());
  EXPECT_EQ(tables.lft, compute(GetParam().engine, g.fabric, g.lids).lft);
}

INSTANTIATE_TEST_SUITE_P(Shapes,
                         AutoChooses,
                         ::testing::Values(Choice{"fat-tree:k=8,levels=3", "ftree"},
                                           Choice{"torus:dims=4.4", "dor"},
                                           Choice{"torus:dims=5.4,mesh=1", "dor"},
                                           Choice{"hamming:dims=4.4,hosts=2", "hamming"},
                                           Choice{"dragonfly", "dragonfly"},
                                           Choice{"irregular:switches=16,seed=1", "nue"}));

TEST(Auto, SaysWhoRefusedAndWhy) {
  const Generated g = irregular(16, 1, 1);
  const RoutingTables tables = compute("auto", g.fabric, g.lids, {.max_vls = 1});
  EXPECT_EQ(tables.engine, "updn");
  EXPECT_THAT(tables.notes[0], StartsWith("auto: updn, as it suits every fabric"));
}

TEST(Auto, TakesUpDownWhereThereAreNoRings) {
  // A tree of switches with a doubled cable, and an island.
  const Fabric f = fabric_from("S1-S2 S1-S2 S2-S3 S2-S4 S4-S5 S5-S6 H1-S3 H2-S6 S7-S8 H3-S7");
  const RoutingTables tables = compute("auto", f, lids_in_order(f), {.max_vls = 4});
  EXPECT_EQ(tables.chosen_by, "auto");
  EXPECT_TRUE(check_routes(f, lids_in_order(f), tables).ok());
}

TEST(Auto, StaysWithTheEngineThatMadeTheRoutesInForce) {
  const Generated g = generated("torus:dims=4.4");
  const RoutingTables before = compute("updn", g.fabric, g.lids);
  const PreviousRoutes in_force{&g.fabric, &g.lids, &before};
  const RoutingTables after = compute("auto", g.fabric, g.lids, {.in_force = &in_force});
  EXPECT_EQ(after.engine, "updn");
  EXPECT_THAT(after.notes[0], HasSubstr("which made the routes in force"));
  EXPECT_EQ(after.lft, before.lft);
}

TEST(Auto, ChoosesAnewWhereMostSwitchesAre) {
  //  One switch first. Then a torus around it.
  const Generated g = generated("torus:dims=4.4");
  const Fabric first = fabric_from("S1-H1");
  const LidMap lids = lids_in_order(first);
  const RoutingTables before = compute("updn", first, lids);
  const PreviousRoutes in_force{&first, &lids, &before};
  const RoutingTables after = compute("auto", g.fabric, g.lids, {.in_force = &in_force});
  EXPECT_EQ(after.engine, "dor");
  EXPECT_THAT(after.notes[0], ::testing::Not(HasSubstr("in force")));
}

TEST(Auto, AsksOthersWhenTheEngineInForceRefuses) {
  // itb-vl has lanes enough for the torus at first, then one.
  const Generated g = generated("torus:dims=8.8");
  const RoutingTables before = compute("itb-vl", g.fabric, g.lids);
  ASSERT_EQ(before.engine, "itb-vl");
  const PreviousRoutes in_force{&g.fabric, &g.lids, &before};
  const RoutingTables after =
      compute("auto", g.fabric, g.lids, {.in_force = &in_force, .max_vls = 1});
  EXPECT_NE(after.engine, "itb-vl");
  EXPECT_THAT(after.notes[0], HasSubstr("there are 1"));
}

TEST(Auto, PassesOverEnginesWhoseMapsCannotBeWritten) {
  const Generated g = generated("torus:dims=5.5");
  const RoutingTables tables = compute("auto", g.fabric, g.lids, {.vl_changes = false});
  EXPECT_NE(tables.engine, "dor");
  EXPECT_TRUE(tables.sl_to_vl.empty());
  EXPECT_THAT(tables.notes[0], HasSubstr("dor: its routes change lanes"));
}

RC_GTEST_PROP(Auto, ServesEveryFabric, ()) {
  const Fabric f = fabric_from(*random_fabric_text());
  const LidMap lids = lids_in_order(f, *rc::gen::inRange<std::uint8_t>(0, 3));
  const auto tables = find_engine("auto")->compute(f, lids, {.max_vls = *rc::gen::inRange(1u, 5u)});
  RC_ASSERT(tables.has_value());
  const RouteReport report = check_routes(f, lids, *tables);
  RC_ASSERT(report.first_faults == std::vector<std::string>{});
  RC_ASSERT(report.ok());
  RC_TAG(tables->engine);
}

}  // namespace
}  // namespace smd::test

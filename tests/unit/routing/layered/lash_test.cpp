#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include "sim-backend/topology/snapshot.h"
#include "smd/routing/verify/check_routes.h"
#include "tests/unit/routing/support/paths.h"
#include "tests/unit/routing/support/random_fabric.h"
#include "tests/unit/routing/support/reshaped.h"

namespace smd::test {
namespace lash_test {

using ::testing::HasSubstr;

constexpr const char* kRing5 =
    "S1-S2 S2-S3 S3-S4 S4-S5 S5-S1 S1-H1 S1-H6 S2-H2 S3-H3 S3-H7 S4-H4 S5-H5";

TEST(Lash, ARingOfFiveNeedsTwoLanes) {
  const Fabric f = fabric_from(kRing5);
  const LidMap lids = lids_in_order(f);
  const RoutingTables tables = compute("lash", f, lids);
  EXPECT_EQ(tables.vls, 2u);
  const RouteReport report = check_routes(f, lids, tables);
  EXPECT_TRUE(report.ok());
  EXPECT_EQ(report.minimal, report.pairs);
}

TEST(Lash, SaysHowManyLanesAreMissing) {
  const Fabric f = fabric_from(kRing5);
  const auto tables = find_engine("lash")->compute(f, lids_in_order(f), {.max_vls = 1});
  ASSERT_FALSE(tables);
  EXPECT_EQ(tables.error().code, Errc::Unsupported);
  EXPECT_THAT(tables.error().context, HasSubstr("need 2 data VLs"));
}

TEST(Lash, AMeshNeedsOneLane) {
  const Fabric f = fabric_from(
      "S1:1-S2:2 S2:1-S3:2 S4:1-S5:2 S5:1-S6:2 S7:1-S8:2 S8:1-S9:2 "
      "S1:3-S4:4 S4:3-S7:4 S2:3-S5:4 S5:3-S8:4 S3:3-S6:4 S6:3-S9:4 "
      "S1-H1 S2-H2 S3-H3 S4-H4 S5-H5 S6-H6 S7-H7 S8-H8 S9-H9");
  const LidMap lids = lids_in_order(f);
  const RoutingTables tables = compute("lash", f, lids, {.max_vls = 1});
  EXPECT_EQ(tables.vls, 1u);
  EXPECT_TRUE(check_routes(f, lids, tables).ok());
}

struct Lanes {
  const char* spec;
  unsigned most;
};

// OpenSM's lash needs more than the eight there are on each of these: "Lane requirements (9) exceed
// available lanes (8)", compare_engines --engines lash --fabrics SPEC (docs/benchmarks.md).
TEST(Lash, FitsTheLanesWhereOpensmDoesNot) {
  for (const auto& [spec, most] : {Lanes{"torus:dims=16.16,hosts=4", 6},
                                   Lanes{"torus:dims=8.8.8,hosts=4", 6},
                                   Lanes{"irregular:switches=250,ports=16,links=8,hosts=8", 6}}) {
    const Fabric f = *sim::build_snapshot(sim::load_fabric(spec).value());
    const LidMap lids = lids_in_order(f);
    const auto tables = find_engine("lash")->compute(f, lids, {.max_vls = 8});
    ASSERT_TRUE(tables.has_value()) << spec << ": " << tables.error().context;
    EXPECT_LE(tables->vls, most) << spec;
    const RouteReport report = check_routes(f, lids, *tables);
    EXPECT_TRUE(report.ok()) << spec;
    EXPECT_EQ(report.minimal, report.pairs) << spec;
  }
}

// GUIDs, nodes and ports in any order: trees that go by numbers find no order in them.
TEST(Lash, FitsTheLanesOfSmallToriWhoseNumbersSayNothing) {
  for (const auto& [spec, most] :
       {Lanes{"torus:dims=8.8,hosts=1", 5}, Lanes{"torus:dims=4.4.4,hosts=1", 8}}) {
    for (const std::uint64_t seed : {1u, 2u, 3u}) {
      const Fabric f = Reshaped{spec}.relabel(seed).build();
      const LidMap lids = lids_in_order(f);
      const auto tables = find_engine("lash")->compute(f, lids, {.max_vls = 8});
      ASSERT_TRUE(tables.has_value()) << spec << " " << seed << ": " << tables.error().context;
      EXPECT_LE(tables->vls, most) << spec << " " << seed;
      const RouteReport report = check_routes(f, lids, *tables);
      EXPECT_TRUE(report.ok()) << spec << " " << seed;
      EXPECT_EQ(report.minimal, report.pairs) << spec << " " << seed;
    }
  }
}

TEST(Lash, RefusesALargeTorusWhoseNumbersSayNothing) {
  const Fabric f = Reshaped{"torus:dims=16.16,hosts=1"}.relabel(1).build();
  const auto tables = find_engine("lash")->compute(f, lids_in_order(f), {.max_vls = 8});
  ASSERT_FALSE(tables.has_value());
  EXPECT_THAT(tables.error().context, HasSubstr("need 12 data VLs"));
}

RC_GTEST_PROP(Lash, IsMinimalAndFreeOfDeadlock, ()) {
  const Fabric f = fabric_from(*random_fabric_text());
  const LidMap lids = lids_in_order(f, *rc::gen::inRange<std::uint8_t>(0, 3));
  const auto tables = find_engine("lash")->compute(f, lids, {.max_vls = 8});
  RC_ASSERT(tables.has_value());
  const RouteReport report = check_routes(f, lids, *tables);
  RC_ASSERT(report.first_faults == std::vector<std::string>{});
  RC_ASSERT(report.ok());
  // Between switches without hosts there may be detours, and then they are told.
  if (tables->notes.empty()) RC_ASSERT(report.minimal == report.pairs);
}

RC_GTEST_PROP(Lash, AllLidsOfASwitchShareTreesAndSls, ()) {
  const Fabric f = fabric_from(*random_fabric_text());
  const LidMap lids = lids_in_order(f);
  const RoutingTables tables = find_engine("lash")->compute(f, lids, {.max_vls = 8}).value();
  // On one VL beside switches without hosts every LID has a tree of its own.
  if (tables.vls == 1 && tables.turns != nullptr) return;
  const auto serving = [&](PortIdx end) {
    return f.is_switch(f.node_of[end])     ? f.node_of[end]
           : f.peer[end] == kNone<PortIdx> ? kNone<NodeIdx>
                                           : f.node_of[f.peer[end]];
  };
  for (std::size_t a = 1; a <= lids.top.value(); ++a) {
    for (std::size_t b = a + 1; b <= lids.top.value(); ++b) {
      const NodeIdx last = serving(lids.owner[a]);
      if (last == kNone<NodeIdx> || !f.is_switch(last) || serving(lids.owner[b]) != last) continue;
      const Lid one{static_cast<std::uint16_t>(a)};
      const Lid two{static_cast<std::uint16_t>(b)};
      for (const SwitchIdx sw : f.switch_node.indices()) {
        if (f.switch_node[sw] == last) continue;
        RC_ASSERT(tables.lft.route(sw, one) == tables.lft.route(sw, two));
        if (!tables.path_sls.empty())
          RC_ASSERT(tables.path_sls.sl(sw, one) == tables.path_sls.sl(sw, two));
      }
    }
  }
}

}  // namespace lash_test
}  // namespace smd::test

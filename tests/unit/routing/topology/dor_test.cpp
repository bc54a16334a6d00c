#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include "smd/routing/verify/channel_load.h"
#include "tests/unit/routing/support/shape_checks.h"

namespace smd::test {
namespace dor_test {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

Result<RoutingTables> dor(const Fabric& f, const LidMap& lids, unsigned max_vls = 0) {
  return find_engine("dor")->compute(f, lids, {.max_vls = max_vls});
}

std::vector<std::string> way(const Fabric& f,
                             const RoutingTables& t,
                             const char* a,
                             const char* b) {
  return path(f, lids_in_order(f), t.lft, a, b);
}

struct Row {
  const char* call;
  unsigned vls;
  bool minimal;
};

class EveryGrid : public ::testing::TestWithParam<Row> {};

TEST_P(EveryGrid, HasShortestRoutesWithoutCreditLoops) {
  for (std::uint64_t seed = 0; seed < 3; ++seed) {
    Reshaped drawn{GetParam().call};
    if (seed != 0) drawn.relabel(seed);
    const Fabric f = drawn.build();
    const LidMap lids = lids_in_order(f);
    const Result<RoutingTables> tables = dor(f, lids);
    ASSERT_TRUE(tables) << tables.error().context;
    EXPECT_EQ(tables->vls, GetParam().vls);
    const RouteReport report = expect_sound(f, lids, *tables);
    EXPECT_EQ(report.minimal, report.pairs);
    expect_same_sl_in_both_directions(f, lids, *tables);
  }
}

INSTANTIATE_TEST_SUITE_P(All,
                         EveryGrid,
                         ::testing::Values(Row{"torus:dims=7", 2, true},
                                           Row{"torus:dims=8", 2, true},
                                           Row{"torus:dims=3.3.3", 1, true},
                                           Row{"torus:dims=4.4", 1, true},
                                           Row{"torus:dims=5.6", 2, true},
                                           Row{"torus:dims=6.6,hosts=3", 2, true},
                                           Row{"torus:dims=2.7", 2, true},
                                           Row{"torus:dims=5.5.6", 2, true},
                                           Row{"torus:dims=5.3.2.5", 2, true},
                                           Row{"torus:dims=5.5.5.5", 2, true},
                                           Row{"torus:dims=5.6,mesh=1", 1, true},
                                           Row{"torus:dims=4.3.5,mesh=1", 1, true},
                                           Row{"hypercube:dim=5", 1, true}));

TEST(Dor, CorrectsOneCoordinateAfterTheOther) {
  const Fabric f = Reshaped{"torus:dims=7.5"}.build();
  const RoutingTables t = compute("dor", f, lids_in_order(f));
  EXPECT_THAT(way(f, t, "sw-0-0", "sw-2-1"), ElementsAre("sw-0-0", "sw-1-0", "sw-2-0", "sw-2-1"));
  EXPECT_THAT(way(f, t, "sw-1-0", "sw-6-4"), ElementsAre("sw-1-0", "sw-0-0", "sw-6-0", "sw-6-4"));
}

TEST(Dor, SlSaysWhichRingsEndThePathPasses) {
  const Fabric f = Reshaped{"torus:dims=7.5"}.build();
  const LidMap lids = lids_in_order(f);
  const RoutingTables t = compute("dor", f, lids);
  const auto sl = [&](const char* a, const char* b) {
    return t.path_sls.sl(switch_named(f, a), lids.base[end_port(f, b)]);
  };
  EXPECT_EQ(sl("sw-1-1", "sw-3-2"), 0);
  EXPECT_EQ(sl("sw-6-1", "sw-1-2"), 1);
  EXPECT_EQ(sl("sw-1-4", "sw-3-0"), 2);
  EXPECT_EQ(sl("sw-0-0", "sw-6-4"), 3);
}

// Half of the pairs that are half a ring apart go one way round, half the other.
TEST(Dor, SpreadsOppositeSwitchesOverBothHalves) {
  const Fabric f = Reshaped{"torus:dims=8.8"}.build();
  const LidMap lids = lids_in_order(f);
  const LoadReport load = measure_load(f, lids, compute("dor", f, lids).lft);
  EXPECT_EQ(load.mean, 64.0);
  EXPECT_LE(load.max, 72u);
}

TEST(Dor, NeedsTwoLanesForRings) {
  const Fabric f = Reshaped{"torus:dims=5.5"}.build();
  const Result<RoutingTables> tables = dor(f, lids_in_order(f), 1);
  ASSERT_FALSE(tables);
  EXPECT_EQ(tables.error().code, Errc::Unsupported);
  EXPECT_THAT(tables.error().context, HasSubstr("torus 5 x 5: needs 2 data VLs"));
}

TEST(Dor, HasNoSlsForFiveRings) {
  const Fabric f = Reshaped{"torus:dims=5.5.5.5.5,hosts=0"}.build();
  EXPECT_THAT(dor(f, lids_in_order(f)).error().context, HasSubstr("5 rings"));
}

TEST(Dor, WithoutItsLanesATorusHasCreditLoops) {
  const Fabric f = Reshaped{"torus:dims=5.5"}.build();
  const LidMap lids = lids_in_order(f);
  RoutingTables tables = compute("dor", f, lids);
  tables.sl_to_vl = {};
  tables.path_sls = {};
  tables.vls = 1;
  EXPECT_FALSE(check_routes(f, lids, tables).acyclic);
}

class EveryLoss : public ::testing::TestWithParam<const char*> {};

TEST_P(EveryLoss, OfACableIsRoutedAround) {
  const Reshaped whole{GetParam()};
  for (const auto& [a, b] : whole.cables()) {
    SCOPED_TRACE(a + " " + b);
    const Fabric f = Reshaped{whole}.without_cable(a, b).build();
    const LidMap lids = lids_in_order(f);
    const Result<RoutingTables> tables = dor(f, lids, 4);
    ASSERT_TRUE(tables) << tables.error().context;
    expect_sound(f, lids, *tables);
    expect_same_sl_in_both_directions(f, lids, *tables);
  }
}

TEST_P(EveryLoss, OfASwitchIsRoutedAround) {
  const Reshaped whole{GetParam()};
  for (const std::string& name : whole.switches()) {
    SCOPED_TRACE(name);
    const Fabric f = Reshaped{whole}.without_switch(name).build();
    const LidMap lids = lids_in_order(f);
    const Result<RoutingTables> tables = dor(f, lids, 4);
    ASSERT_TRUE(tables) << tables.error().context;
    expect_sound(f, lids, *tables);
    expect_same_sl_in_both_directions(f, lids, *tables);
  }
}

INSTANTIATE_TEST_SUITE_P(All,
                         EveryLoss,
                         ::testing::Values("torus:dims=5.6",
                                           "torus:dims=5.5.3",
                                           "torus:dims=4.5",
                                           "torus:dims=4.5,mesh=1",
                                           "torus:dims=3.3.3,mesh=1"));

TEST(Dor, ALostCableOfATorusTakesNoFurtherLane) {
  const Fabric f = Reshaped{"torus:dims=6.6"}.without_cable("sw-2-2", "sw-2-3").build();
  const LidMap lids = lids_in_order(f);
  const Result<RoutingTables> tables = dor(f, lids, 2);
  ASSERT_TRUE(tables) << tables.error().context;
  EXPECT_EQ(tables->vls, 2u);
  expect_sound(f, lids, *tables);
}

// A second VL would cost every switch its SL-to-VL rows.
TEST(Dor, ALostCableOfAMeshTakesNoFurtherVl) {
  for (const char* call : {"torus:dims=5.5,mesh=1", "torus:dims=3.4.3,mesh=1"}) {
    const Reshaped whole{call};
    for (const auto& [a, b] : whole.cables()) {
      SCOPED_TRACE(a + " " + b);
      const Fabric f = Reshaped{whole}.without_cable(a, b).build();
      const LidMap lids = lids_in_order(f);
      const Result<RoutingTables> tables = dor(f, lids, 1);
      ASSERT_TRUE(tables) << tables.error().context;
      EXPECT_TRUE(tables->path_sls.empty());
      EXPECT_TRUE(tables->sl_to_vl.empty());
      expect_sound(f, lids, *tables);
    }
  }
}

TEST(Dor, ALostSwitchTakesOneLaneMore) {
  const Fabric f = Reshaped{"torus:dims=6.6"}.without_switch("sw-2-2").build();
  const LidMap lids = lids_in_order(f);
  EXPECT_THAT(dor(f, lids, 2).error().context, HasSubstr("more than 0 lanes"));
  const RoutingTables tables = dor(f, lids, 8).value();
  EXPECT_EQ(tables.vls, 3u);
  const RouteReport report = expect_sound(f, lids, tables);
  EXPECT_LE(report.max_hops, 8u);
}

TEST(Dor, ALostCableChangesOnlyWhatPassedIt) {
  const Reshaped whole{"torus:dims=6.6"};
  const Fabric f = whole.build();
  const Fabric g = Reshaped{whole}.without_cable("sw-2-2", "sw-2-3").build();
  const LidMap lids = lids_in_order(f);
  ASSERT_EQ(lids_in_order(g), lids);
  const RoutingTables before = dor(f, lids).value(), after = dor(g, lids).value();
  EXPECT_EQ(after.path_sls, before.path_sls);
  const Fabric* const row[] = {&f, &g};
  for (const SwitchIdx sw : f.switch_node.indices()) {
    const std::string& name = f.description[f.switch_node[sw]];
    if (name.substr(0, 5) == "sw-2-") continue;
    EXPECT_EQ(std::vector(before.lft.row(sw).begin(), before.lft.row(sw).end()),
              std::vector(after.lft.row(sw).begin(), after.lft.row(sw).end()))
        << print_port(*row[0], f.port_of(f.switch_node[sw], PortNum{0}));
  }
}

// Each ring ends where it did, and dimensions have the order that they had, until all is back.
TEST(Dor, ALostSwitchMovesNoEndOfARing) {
  for (const char* call : {"torus:dims=5.5,hosts=1", "torus:dims=6.6,hosts=1"}) {
    for (std::uint64_t seed = 1; seed <= 4; ++seed) {
      const Reshaped whole = Reshaped{call}.relabel(seed);
      const Fabric f = whole.build();
      const LidMap lids = lids_in_order(f);
      const RoutingTables before = dor(f, lids, 8).value();
      const PreviousRoutes in_force{&f, &lids, &before};
      for (const std::string& name : whole.switches()) {
        SCOPED_TRACE(call + (" without " + name));
        const Fabric g = Reshaped{whole}.without_switch(name).build();
        const LidMap rest = lids_as_before(g, f, lids);
        const RoutingTables after =
            find_engine("dor")->compute(g, rest, {.in_force = &in_force, .max_vls = 8}).value();
        expect_sound(g, rest, after);
        unsigned others = 0;
        for (const SwitchIdx sw : g.switch_node.indices()) {
          const SwitchIdx was = f.switch_of[f.find_node(g.node_guid[g.switch_node[sw]]).value()];
          for (unsigned value = 1; value <= rest.top.value(); ++value) {
            const Lid lid{static_cast<std::uint16_t>(value)};
            if (rest.owner_of(lid) == kNone<PortIdx>) continue;
            const unsigned sl = after.path_sls.sl(sw, lid);
            others += sl < 4 && sl != before.path_sls.sl(was, lid);  // else of a detour
          }
        }
        EXPECT_EQ(others, 0u);
        const PreviousRoutes meanwhile{&g, &rest, &after};
        const RoutingTables back =
            find_engine("dor")->compute(f, lids, {.in_force = &meanwhile, .max_vls = 8}).value();
        EXPECT_EQ(back.lft, before.lft);
        EXPECT_EQ(back.path_sls, before.path_sls);
        ASSERT_FALSE(::testing::Test::HasFailure());
      }
    }
  }
}

TEST(Dor, SaysWhichLidsItRecomputed) {
  const Reshaped whole{"torus:dims=6.6"};
  const Fabric f = whole.build();
  const LidMap lids = lids_in_order(f);
  const RoutingTables before = dor(f, lids).value();
  const PreviousRoutes in_force{&f, &lids, &before};
  EXPECT_EQ(find_engine("dor")->compute(f, lids, {.in_force = &in_force})->recomputed,
            std::vector<Lid>{});

  const Fabric g = Reshaped{whole}.without_cable("sw-2-2", "sw-2-3").build();
  const RoutingTables after = find_engine("dor")->compute(g, lids, {.in_force = &in_force}).value();
  ASSERT_TRUE(after.recomputed);
  for (unsigned value = 1; value <= lids.top.value(); ++value) {
    const Lid lid{static_cast<std::uint16_t>(value)};
    bool differs = false;
    for (const SwitchIdx sw : f.switch_node.indices())
      differs = differs || before.lft.route(sw, lid) != after.lft.route(sw, lid);
    EXPECT_EQ(std::binary_search(after.recomputed->begin(), after.recomputed->end(), lid), differs)
        << value;
  }
}

TEST(Dor, ParallelCablesTakeTurnsAndSoDoTheLidsOfAPort) {
  const Fabric f = fabric_from("S1-S2 S1-S2 S2-S3 H1-S1 H2-S2 H3-S2 H4-S2 H5-S2");
  const LidMap lids = lids_in_order(f, 1);
  const RoutingTables tables = compute("dor", f, lids);
  std::vector<unsigned> uses(3, 0);
  for (const char* host : {"H2", "H3", "H4", "H5"}) {
    const Lid lid = lids.base[end_port(f, host)];
    const PortNum a = tables.lft.route(switch_named(f, "S1"), lid);
    const PortNum b = tables.lft.route(switch_named(f, "S1"), Lid(std::uint16_t(lid.value() + 1)));
    EXPECT_NE(a, b) << host;
    ++uses[a.value()];
  }
  EXPECT_THAT(uses, ElementsAre(0u, 2u, 2u));
}

// Anything may be missing: the rest is served, or refused with a reason.
RC_GTEST_PROP(Dor, ServesDamagedGridsOrSaysWhyNot, ()) {
  const std::string call = *rc::gen::element<std::string>("torus:dims=5.6",
                                                          "torus:dims=5.3.4",
                                                          "torus:dims=4.6,mesh=1",
                                                          "torus:dims=3.3.4,mesh=1",
                                                          "torus:dims=2.2.7",
                                                          "torus:dims=9");
  Reshaped drawn{call};
  Rng rng{*rc::gen::arbitrary<std::uint64_t>()};
  const std::uint64_t cables = rng.below(5), switches = rng.below(3);
  for (std::uint64_t i = 0; i < cables; ++i) {
    const auto all = drawn.cables();
    const auto& [a, b] = all[rng.below(all.size())];
    drawn.without_cable(a, b);
  }
  for (std::uint64_t i = 0; i < switches; ++i) {
    const auto all = drawn.switches();
    drawn.without_switch(all[rng.below(all.size())]);
  }
  drawn.relabel(rng.next());
  const Fabric f = drawn.build();
  const LidMap lids = lids_in_order(f, static_cast<std::uint8_t>(rng.below(3)));
  const Result<RoutingTables> tables = dor(f, lids);
  RC_TAG(tables ? "served" : "refused");
  if (!tables) {
    RC_ASSERT(tables.error().code == Errc::Unsupported);
    RC_ASSERT(!tables.error().context.empty());
    return;
  }
  const RouteReport report = check_routes(f, lids, *tables);
  RC_ASSERT(report.first_faults == std::vector<std::string>{});
  RC_ASSERT(report.ok());
}

}  // namespace dor_test
}  // namespace smd::test

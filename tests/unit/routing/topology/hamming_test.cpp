#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <set>

#include "tests/unit/routing/support/shape_checks.h"

namespace smd::test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

Result<RoutingTables> hamming(const Fabric& f, const LidMap& lids, unsigned max_vls = 0) {
  return find_engine("hamming")->compute(f, lids, {.max_vls = max_vls});
}

class EveryHamming : public ::testing::TestWithParam<const char*> {};

TEST_P(EveryHamming, HasShortestRoutesOnOneLane) {
  for (std::uint64_t seed = 0; seed < 3; ++seed) {
    Reshaped drawn{GetParam()};
    if (seed != 0) drawn.relabel(seed);
    const Fabric f = drawn.build();
    const LidMap lids = lids_in_order(f);
    const Result<RoutingTables> tables = hamming(f, lids, 1);
    ASSERT_TRUE(tables) << tables.error().context;
    EXPECT_EQ(tables->vls, 1u);
    EXPECT_TRUE(tables->path_sls.empty());
    const RouteReport report = expect_sound(f, lids, *tables);
    EXPECT_EQ(report.minimal, report.pairs);
  }
}

INSTANTIATE_TEST_SUITE_P(All,
                         EveryHamming,
                         ::testing::Values("hamming:dims=6",
                                           "hamming:dims=4.4",
                                           "hamming:dims=3.6,trunk=3.1",
                                           "hamming:dims=3.3.4,trunk=2.2.1",
                                           "hamming:dims=2.3.2.3"));

// Of two dimensions that are as long as each other the same one comes first.
TEST(Hamming, ALostSwitchChangesOnlyWhatPassedIt) {
  const auto route = [](const Fabric& f, const LidMap& lids, const PreviousRoutes& in_force) {
    return find_engine("hamming")->compute(f, lids, {.in_force = &in_force, .max_vls = 8}).value();
  };
  for (const char* call : {"hamming:dims=4.4,hosts=1", "hamming:dims=3.3.4,hosts=1"}) {
    for (std::uint64_t seed = 1; seed <= 10; ++seed) {
      const Reshaped whole = Reshaped{call}.relabel(seed);
      const Fabric f = whole.build();
      const LidMap lids = lids_in_order(f);
      const RoutingTables before = hamming(f, lids, 8).value();
      for (const std::string& name : whole.switches()) {
        SCOPED_TRACE(call + (" without " + name));
        const SwitchIdx lost = switch_named(f, name);
        const Fabric g = Reshaped{whole}.without_switch(name).build();
        const LidMap rest = lids_as_before(g, f, lids);
        const RoutingTables after = route(g, rest, {&f, &lids, &before});
        expect_sound(g, rest, after);
        unsigned moved = 0;
        for (const SwitchIdx sw : g.switch_node.indices()) {
          const SwitchIdx was = f.switch_of[f.find_node(g.node_guid[g.switch_node[sw]]).value()];
          for (unsigned value = 1; value <= rest.top.value(); ++value) {
            const Lid lid{static_cast<std::uint16_t>(value)};
            if (rest.owner_of(lid) == kNone<PortIdx>) continue;
            const PortNum port = before.lft.route(was, lid);
            const PortIdx peer = f.peer[f.port_of(f.switch_node[was], port)];
            const bool passed = port != PortNum{0} && f.switch_at(peer) == lost;
            moved += !passed && after.lft.route(sw, lid) != port;
          }
        }
        EXPECT_EQ(moved, 0u);
        EXPECT_EQ(route(f, lids, {&g, &rest, &after}).lft, before.lft);
        ASSERT_FALSE(::testing::Test::HasFailure());
      }
    }
  }
}

TEST(Hamming, TakesOneHopForEveryCoordinate) {
  const Fabric f = Reshaped{"hamming:dims=5.4"}.build();
  const LidMap lids = lids_in_order(f);
  const RoutingTables t = compute("hamming", f, lids);
  EXPECT_THAT(path(f, lids, t.lft, "sw-0-0", "sw-3-2"), ElementsAre("sw-0-0", "sw-3-0", "sw-3-2"));
}

TEST(Hamming, CablesOfATrunkTakeTurns) {
  const Fabric f = Reshaped{"hamming:dims=2,hosts=6,trunk=3"}.build();
  const LidMap lids = lids_in_order(f, 1);
  const RoutingTables tables = compute("hamming", f, lids);
  const SwitchIdx sw = switch_named(f, "sw-0");
  std::map<unsigned, unsigned> uses;
  for (const PortIdx port : f.external_ports(f.switch_node[switch_named(f, "sw-1")])) {
    if (f.peer[port] == kNone<PortIdx> || f.is_switch(f.node_of[f.peer[port]])) continue;
    const Lid lid = lids.base[f.peer[port]];
    ++uses[tables.lft.route(sw, lid).value()];
    EXPECT_NE(tables.lft.route(sw, lid), tables.lft.route(sw, Lid(std::uint16_t(lid.value() + 1))));
  }
  EXPECT_EQ(uses.size(), 3u);
  for (const auto& [port, times] : uses) EXPECT_EQ(times, 2u) << port;
}

// A second VL costs every switch its SL-to-VL rows.
void expect_one_vl_as_before(const RoutingTables& tables) {
  EXPECT_EQ(tables.vls, 1u);
  EXPECT_TRUE(tables.path_sls.empty());
  EXPECT_TRUE(tables.sl_to_vl.empty());
}

class EveryLoss : public ::testing::TestWithParam<const char*> {};

TEST_P(EveryLoss, OfACableIsRoutedAround) {
  const Reshaped whole{GetParam()};
  for (const auto& [a, b] : whole.cables()) {
    SCOPED_TRACE(a + " " + b);
    const Fabric f = Reshaped{whole}.without_cable(a, b).build();
    const LidMap lids = lids_in_order(f);
    const Result<RoutingTables> tables = hamming(f, lids, 1);
    ASSERT_TRUE(tables) << tables.error().context;
    // One hop more than without the loss.
    EXPECT_LE(expect_sound(f, lids, *tables).max_hops, a.size() == 6 ? 3u : 4u);
    expect_one_vl_as_before(*tables);
  }
}

TEST_P(EveryLoss, OfASwitchIsRoutedAround) {
  const Reshaped whole{GetParam()};
  for (const std::string& name : whole.switches()) {
    SCOPED_TRACE(name);
    const Fabric f = Reshaped{whole}.without_switch(name).build();
    const LidMap lids = lids_in_order(f);
    const Result<RoutingTables> tables = hamming(f, lids, 1);
    ASSERT_TRUE(tables) << tables.error().context;
    expect_sound(f, lids, *tables);
    expect_one_vl_as_before(*tables);
  }
}

INSTANTIATE_TEST_SUITE_P(All,
                         EveryLoss,
                         ::testing::Values("hamming:dims=4.5", "hamming:dims=3.3.4"));

// As many as it takes until no order of the detours has one VL.
Reshaped much_damaged() {
  Reshaped drawn{"hamming:dims=3.3.3"};
  Rng rng{1};
  while (hamming(drawn.build(), lids_in_order(drawn.build()), 1)) {
    const auto cables = drawn.cables();
    const auto& [a, b] = cables[rng.below(cables.size())];
    drawn.without_cable(a, b);
  }
  return drawn;
}

TEST(Hamming, ManyLossesTakeAVlOfTheirOwn) {
  const Reshaped damaged = much_damaged();
  const Fabric f = damaged.build();
  const LidMap lids = lids_in_order(f);
  const Result<RoutingTables> tables = hamming(f, lids, 8);
  ASSERT_TRUE(tables) << tables.error().context;
  EXPECT_GE(tables->vls, 2u);
  EXPECT_FALSE(tables->path_sls.empty());
  EXPECT_LE(damaged.cables().size(), 81u - 3u) << "so few losses stay on one VL";
  expect_sound(f, lids, *tables);
  expect_same_sl_in_both_directions(f, lids, *tables);
}

TEST(Hamming, OneCableLeftOfATrunkCarriesItAll) {
  const Fabric f = Reshaped{"hamming:dims=3.4,trunk=2.1"}.without_cable("sw-0-0", "sw-1-0").build();
  const LidMap lids = lids_in_order(f);
  const RoutingTables tables = hamming(f, lids, 1).value();
  const RouteReport report = expect_sound(f, lids, tables);
  EXPECT_EQ(report.minimal, report.pairs);
}

TEST(Hamming, RefusesWhatItCannotServeOnTheLanesThereAre) {
  const Fabric f = much_damaged().build();
  const Result<RoutingTables> tables = hamming(f, lids_in_order(f), 1);
  ASSERT_FALSE(tables);
  EXPECT_EQ(tables.error().code, Errc::Unsupported);
  EXPECT_THAT(tables.error().context, HasSubstr("the way around what is missing between sw-"));
}

TEST(Hamming, RefusesOtherFabrics) {
  const Fabric f = Reshaped{"torus:dims=6.6"}.build();
  EXPECT_THAT(hamming(f, lids_in_order(f)).error().context, HasSubstr("no Hamming graph"));
}

RC_GTEST_PROP(Hamming, ServesDamagedGraphsOrSaysWhyNot, ()) {
  Reshaped drawn{*rc::gen::element<std::string>(
      "hamming:dims=4.4", "hamming:dims=3.3.3", "hamming:dims=3.5,trunk=2.1", "hamming:dims=8")};
  Rng rng{*rc::gen::arbitrary<std::uint64_t>()};
  const std::uint64_t cables = rng.below(7), switches = rng.below(3);
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
  const Result<RoutingTables> tables = hamming(f, lids);
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

}  // namespace
}  // namespace smd::test

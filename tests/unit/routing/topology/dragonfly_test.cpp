#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include "tests/unit/routing/support/shape_checks.h"

namespace smd::test {
namespace {

using ::testing::HasSubstr;

Result<RoutingTables> dragonfly(const Fabric& f,
                                const LidMap& lids,
                                unsigned max_vls = 0,
                                GatewayChoice gateways = GatewayChoice::OwnFirst) {
  return find_engine("dragonfly")
      ->compute(f, lids, {.options = {.gateways = gateways}, .max_vls = max_vls});
}

std::string group_of(const std::string& name) { return name.substr(0, name.rfind('-')); }

// Local, global, local, at most one of each, in that order.
void expect_local_global_local(const Fabric& f, const LidMap& lids, const RoutingTables& tables) {
  for (const SwitchIdx from : f.switch_node.indices()) {
    for (std::size_t value = 1; value <= lids.top.value(); ++value) {
      if (lids.owner[value] == kNone<PortIdx>) continue;
      const auto names =
          path(f, tables.lft, f.description[f.switch_node[from]], Lid(std::uint16_t(value)));
      std::string kinds;
      for (std::size_t i = 1; i < names.size(); ++i)
        kinds += group_of(names[i]) == group_of(names[i - 1]) ? 'l' : 'g';
      EXPECT_TRUE(std::string{"lgl"}.find(kinds) != std::string::npos || kinds == "gl") << kinds;
    }
  }
}

class EveryDragonfly : public ::testing::TestWithParam<const char*> {};

TEST_P(EveryDragonfly, GoesLocalGlobalLocalOnTwoLanes) {
  for (std::uint64_t seed = 0; seed < 3; ++seed) {
    Reshaped drawn{GetParam()};
    if (seed != 0) drawn.relabel(seed);
    const Fabric f = drawn.build();
    const LidMap lids = lids_in_order(f, 1);
    for (const GatewayChoice choice :
         {GatewayChoice::OwnFirst, GatewayChoice::Uniform, GatewayChoice::LeastLoaded}) {
      const Result<RoutingTables> tables = dragonfly(f, lids, 2, choice);
      ASSERT_TRUE(tables) << tables.error().context;
      EXPECT_EQ(tables->vls, 2u);
      EXPECT_TRUE(tables->path_sls.empty());
      expect_sound(f, lids, *tables);
      EXPECT_TRUE(check_routes(f, lids, *tables, {.any_sl = true}).ok());
      if (seed == 0) expect_local_global_local(f, lids, *tables);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All,
                         EveryDragonfly,
                         ::testing::Values("dragonfly:a=3,h=1",
                                           "dragonfly:a=4,h=2",
                                           "dragonfly:a=5,h=2,groups=6",
                                           "dragonfly:a=6,h=2,groups=5,global-trunk=3",
                                           "dragonfly:a=4,h=2,local-trunk=2"));

TEST(Dragonfly, IsMinimalWhereGroupsHaveOneLink) {
  const Fabric f = Reshaped{"dragonfly:a=5,h=2"}.build();
  const LidMap lids = lids_in_order(f);
  const RouteReport report = check_routes(f, lids, compute("dragonfly", f, lids));
  EXPECT_EQ(report.max_hops, 3u);
  // Two global links may be shorter than local, global, local; no minimal path goes that way here.
  EXPECT_GE(report.minimal * 100, report.pairs * 90);
}

TEST(Dragonfly, OnOneLaneItHasCreditLoops) {
  const Fabric f = Reshaped{"dragonfly:a=5,h=2"}.build();
  const LidMap lids = lids_in_order(f);
  RoutingTables tables = compute("dragonfly", f, lids);
  tables.sl_to_vl = {};
  tables.vls = 1;
  EXPECT_FALSE(check_routes(f, lids, tables).acyclic);
  EXPECT_THAT(dragonfly(f, lids, 1).error().context, HasSubstr("needs 2 data VLs"));
}

TEST(Dragonfly, LidsOfOnePortLeaveAGroupByDifferentSwitches) {
  const Fabric f = Reshaped{"dragonfly:a=6,h=2,groups=5,global-trunk=3"}.build();
  const LidMap lids = lids_in_order(f, 1);
  for (const GatewayChoice choice : {GatewayChoice::OwnFirst, GatewayChoice::Uniform}) {
    const RoutingTables tables = dragonfly(f, lids, 2, choice).value();
    unsigned differ = 0;
    for (const SwitchIdx sw : f.switch_node.indices()) {
      const Lid lid = lids.base[end_port(f, "host-00000")];
      differ +=
          tables.lft.route(sw, lid) != tables.lft.route(sw, Lid(std::uint16_t(lid.value() + 1)));
    }
    EXPECT_GE(differ, 6u);
  }
}

TEST(Dragonfly, UniformGatewaysAreTheSameForAWholeGroup) {
  const Fabric f = Reshaped{"dragonfly:a=6,h=2,groups=5,global-trunk=3"}.build();
  const LidMap lids = lids_in_order(f);
  const RoutingTables tables = dragonfly(f, lids, 2, GatewayChoice::Uniform).value();
  const Lid lid = lids.base[end_port(f, "sw-3-1")];
  std::set<std::string> gateways;
  for (int r = 0; r < 6; ++r) {
    const auto names = path(f, tables.lft, "sw-0-" + std::to_string(r), lid);
    for (std::size_t i = 1; i < names.size(); ++i) {
      if (group_of(names[i]) != group_of(names[i - 1])) gateways.insert(names[i - 1]);
    }
  }
  EXPECT_EQ(gateways.size(), 1u);
}

TEST(Dragonfly, ALinkOfOnesOwnComesFirst) {
  const Fabric f = Reshaped{"dragonfly:a=5,h=4,groups=5,global-trunk=5"}.build();
  const LidMap lids = lids_in_order(f);
  const RouteReport report =
      expect_sound(f, lids, dragonfly(f, lids, 2, GatewayChoice::OwnFirst).value());
  EXPECT_EQ(report.max_hops, 2u);
  EXPECT_EQ(report.minimal, report.pairs);
  EXPECT_EQ(check_routes(f, lids, dragonfly(f, lids, 2, GatewayChoice::Uniform).value()).max_hops,
            3u);
}

TEST(Dragonfly, AnyLostCableIsRoutedAround) {
  const Reshaped whole{"dragonfly:a=4,h=2"};
  for (const auto& [a, b] : whole.cables()) {
    SCOPED_TRACE(a + " " + b);
    const Fabric f = Reshaped{whole}.without_cable(a, b).build();
    const LidMap lids = lids_in_order(f);
    const Result<RoutingTables> tables = dragonfly(f, lids, 4);
    ASSERT_TRUE(tables) << tables.error().context;
    expect_sound(f, lids, *tables);
    expect_same_sl_in_both_directions(f, lids, *tables);
  }
}

TEST(Dragonfly, AnyLostSwitchIsRoutedAround) {
  const Reshaped whole{"dragonfly:a=5,h=2"};
  for (const std::string& name : whole.switches()) {
    SCOPED_TRACE(name);
    const Fabric f = Reshaped{whole}.without_switch(name).build();
    const LidMap lids = lids_in_order(f);
    const Result<RoutingTables> tables = dragonfly(f, lids, 4);
    ASSERT_TRUE(tables) << tables.error().context;
    expect_sound(f, lids, *tables);
  }
}

/// Entries that differ although the way by them did not pass the switch that is gone.
unsigned count_moved(const Fabric& g,
                     const LidMap& lids,
                     const RoutingTables& after,
                     const Fabric& f,
                     const RoutingTables& before,
                     const std::string& gone) {
  unsigned moved = 0;
  for (const SwitchIdx sw : g.switch_node.indices()) {
    const std::string& name = g.description[g.switch_node[sw]];
    for (unsigned value = 1; value <= lids.top.value(); ++value) {
      const Lid lid{static_cast<std::uint16_t>(value)};
      if (lids.owner_of(lid) == kNone<PortIdx>) continue;
      const auto way = path(f, before.lft, name, lid);
      if (std::ranges::count(way, gone) != 0) continue;
      moved += after.lft.route(sw, lid) != before.lft.route(switch_named(f, name), lid);
    }
  }
  return moved;
}

// Groups have one link to each other, so nothing is dealt anew over those that are left.
TEST(Dragonfly, ALostSwitchChangesOnlyWhatPassedItAndFindsItsPlaceAgain) {
  for (const char* call :
       {"dragonfly:a=4,h=2,c=1,local-trunk=2", "dragonfly:a=3,h=1,local-trunk=3"}) {
    const Reshaped whole{call};
    const Fabric f = whole.build();
    const LidMap lids = lids_in_order(f);
    const RoutingTables before = dragonfly(f, lids, 8).value();
    const auto route = [](const Fabric& on, const LidMap& with, const PreviousRoutes& in_force) {
      return find_engine("dragonfly")
          ->compute(on, with, {.in_force = &in_force, .max_vls = 8})
          .value();
    };
    for (const std::string& name : whole.switches()) {
      SCOPED_TRACE(fmt::format("{} without {}", call, name));
      const Fabric g = Reshaped{whole}.without_switch(name).build();
      const LidMap rest = lids_as_before(g, f, lids);
      const RoutingTables after = route(g, rest, {&f, &lids, &before});
      expect_sound(g, rest, after);
      EXPECT_EQ(count_moved(g, rest, after, f, before, name), 0u);
      EXPECT_EQ(route(f, lids, {&g, &rest, &after}).lft, before.lft);
    }
  }
}

/// The SL of a way by another group says in which order of the groups it rises.
TEST(Dragonfly, ALostSwitchMovesNoSlOfAnotherGroup) {
  for (std::uint64_t seed = 1; seed <= 6; ++seed) {
    const Reshaped whole = Reshaped{"dragonfly:a=4,h=2,c=1"}.relabel(seed);
    const Fabric f = whole.build();
    const LidMap lids = lids_in_order(f, 2);
    RoutingRequest request{.options = {.non_minimal = NonMinimal::Valiant}, .max_vls = 8};
    const RoutingTables before = find_engine("dragonfly")->compute(f, lids, request).value();
    for (const std::string& name : whole.switches()) {
      const Fabric g = Reshaped{whole}.without_switch(name).build();
      const LidMap rest = lids_as_before(g, f, lids);
      const PreviousRoutes in_force{&f, &lids, &before};
      request.in_force = &in_force;
      const RoutingTables after = find_engine("dragonfly")->compute(g, rest, request).value();
      request.in_force = nullptr;
      unsigned regular = 0, moved = 0;
      for (const SwitchIdx sw : g.switch_node.indices()) {
        const SwitchIdx was = f.switch_of[f.find_node(g.node_guid[g.switch_node[sw]]).value()];
        for (unsigned value = 1; value <= rest.top.value(); ++value) {
          const Lid lid{static_cast<std::uint16_t>(value)};
          if (rest.owner_of(lid) == kNone<PortIdx> || after.path_sls.sl(sw, lid) > 4) continue;
          ++regular;
          moved += after.path_sls.sl(sw, lid) != before.path_sls.sl(was, lid);
        }
      }
      EXPECT_GT(regular, 1000u) << seed << " without " << name;
      EXPECT_EQ(moved, 0u) << seed << " without " << name;
    }
  }
}

TEST(Dragonfly, RefusesOtherFabrics) {
  const Fabric f = Reshaped{"torus:dims=6.6"}.build();
  EXPECT_THAT(dragonfly(f, lids_in_order(f)).error().context, HasSubstr("no dragonfly"));
}

RC_GTEST_PROP(Dragonfly, ServesDamagedOnesOrSaysWhyNot, ()) {
  Reshaped drawn{*rc::gen::element<std::string>("dragonfly:a=4,h=2",
                                                "dragonfly:a=5,h=2,groups=7",
                                                "dragonfly:a=6,h=2,groups=5,global-trunk=3")};
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
  const LidMap lids = lids_in_order(f, static_cast<std::uint8_t>(rng.below(2)));
  const auto choice = static_cast<GatewayChoice>(rng.below(3));
  const Result<RoutingTables> tables = dragonfly(f, lids, 0, choice);
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

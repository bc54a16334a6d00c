// What a plan is told of lanes: who was told which SLs, and what switches are known to hold.
#include "smd/manager/plan_job.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "smd/routing/engine.h"
#include "smd/routing/sl_to_vl.h"
#include "tests/unit/plan/hand_made.h"
#include "tests/unit/routing/support/generated.h"
#include "tests/unit/routing/support/reshaped.h"
#include "tests/unit/routing/support/shape_checks.h"

namespace smd::test {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;

using Routes = std::shared_ptr<const ActiveSubnet>;

Routes some_routes() { return std::make_shared<ActiveSubnet>(); }

constexpr TimePoint kStart{Duration{0}};

TEST(AdvertisedSls, AnythingMayHaveBeenToldBefore) {
  EXPECT_EQ(AdvertisedSls().at(kStart), std::nullopt);
  AdvertisedSls advertised;
  advertised.advertise(some_routes(), false, false, kStart);
  EXPECT_EQ(advertised.at(kStart), std::nullopt);
}

TEST(AdvertisedSls, WhatWasReplacedIsUsedForAWhile) {
  AdvertisedSls advertised;
  const Routes first = some_routes(), second = some_routes();
  advertised.advertise(first, true, true, kStart);
  EXPECT_THAT(*advertised.at(kStart), ElementsAre(first))
      << "no link carried data: nobody uses others";
  advertised.advertise(second, true, false, kStart + 1s);
  EXPECT_THAT(*advertised.at(kStart + 60s), ElementsAre(first, second));
  EXPECT_THAT(*advertised.at(kStart + 61s), ElementsAre(second));
}

TEST(AdvertisedSls, WhatWasNotCarriedOutReplacesNothing) {
  AdvertisedSls advertised;
  const Routes first = some_routes(), second = some_routes();
  advertised.advertise(first, true, true, kStart);
  advertised.advertise(second, false, true, kStart);
  EXPECT_THAT(*advertised.at(kStart + 1h), ElementsAre(first, second));
}

TEST(AdvertisedSls, RoutesThatAreWantedAgainAreThereOnce) {
  AdvertisedSls advertised;
  const Routes first = some_routes(), second = some_routes();
  advertised.advertise(first, true, true, kStart);
  advertised.advertise(second, true, false, kStart);
  advertised.advertise(first, true, false, kStart);
  EXPECT_THAT(*advertised.at(kStart), ElementsAre(second, first));
  EXPECT_THAT(*advertised.at(kStart + 60s), ElementsAre(first));
}

TEST(AdvertisedSls, OfTooManyAnythingMayBeUsed) {
  AdvertisedSls advertised;
  advertised.advertise(some_routes(), true, true, kStart);
  for (int i = 1; i < 8; ++i) advertised.advertise(some_routes(), false, false, kStart);
  EXPECT_EQ(advertised.at(kStart)->size(), 8u);
  advertised.advertise(some_routes(), true, false, kStart);
  EXPECT_EQ(advertised.at(kStart + 59s), std::nullopt);
  EXPECT_EQ(advertised.at(kStart + 60s)->size(), 1u);
}

// A host that comes and goes all the time leaves the SLs of all others as they are.
TEST(AdvertisedSls, OfTooManyThatTellTheSameSlsNothingIsForgotten) {
  const auto with_sl = [](unsigned sl) {
    const HandMade made = loop_of_two();
    RoutingTables routing;
    routing.lft = made.wanted;
    routing.vls = 2;
    routing.path_sls = PathSls{made.fabric->switch_count(), made.wanted.top()};
    for (const SwitchIdx sw : made.fabric->switch_node.indices())
      std::ranges::fill(routing.path_sls.row(sw), static_cast<std::uint8_t>(sl));
    return std::make_shared<ActiveSubnet>(ActiveSubnet{
        .sweep = {.fabric = made.fabric}, .lids = made.lids, .routing = std::move(routing)});
  };
  AdvertisedSls advertised;
  const Routes other = with_sl(1);
  advertised.advertise(other, true, true, kStart);
  Routes last;
  for (int i = 0; i < 20; ++i)
    advertised.advertise(last = with_sl(0), true, false, kStart + i * 1s);
  const AdvertisedRoutes now = advertised.at(kStart + 20s);
  ASSERT_TRUE(now.has_value());
  EXPECT_EQ(now->front(), other) << "its SLs are others";
  EXPECT_EQ(now->back(), last);
}

// Hosts are still told of the first ones.
TEST(AdvertisedSls, OfTooManyThatWereNotCarriedOutAnythingMayBeUsedUntilOneIs) {
  AdvertisedSls advertised;
  advertised.advertise(some_routes(), true, true, kStart);
  for (int i = 1; i <= 8; ++i) advertised.advertise(some_routes(), false, false, kStart);
  EXPECT_EQ(advertised.at(kStart + 1h), std::nullopt);
  advertised.advertise(some_routes(), true, false, kStart + 1h);
  EXPECT_EQ(advertised.at(kStart + 1h + 59s), std::nullopt);
  EXPECT_EQ(advertised.at(kStart + 1h + 60s)->size(), 1u);
}

/// Three switches, whose first one is fresh from power-on.
struct LaneTaskOf : testing::Test {
  LaneTaskOf() {
    const HandMade made = loop_of_two();
    Fabric fabric = *made.fabric;
    for (const SwitchIdx sw : fabric.switch_node.indices())
      fabric.switch_info[sw].linear_fdb_top = sw.value() == 0 ? 0 : 4;
    const auto snapshot = std::make_shared<const Fabric>(std::move(fabric));
    RoutingTables routing;
    routing.lft = made.wanted;
    goal_ = std::make_unique<const ActiveSubnet>(
        ActiveSubnet{.sweep = {.fabric = snapshot},
                     .lids = made.lids,
                     .routing = std::move(routing),
                     .rows = build_switch_rows(*snapshot, {}, modulo_row(2))});
  }

  [[nodiscard]] std::vector<Turn> ways_of(SwitchIdx sw) const {
    std::vector<Turn> all;
    for_each_turn(goal_->fabric(), sw, [&](PortNum in, PortNum out) {
      all.push_back({sw, in, out});
    });
    std::ranges::sort(all);
    return all;
  }

  void know(const Turn& way, const SlToVl& row) {
    known.confirm(
        goal_->fabric().node_guid[goal_->fabric().switch_node[way.sw]], way.in, way.out, row);
  }

  void know_all_but(SwitchIdx left_out) {
    for (const SwitchIdx sw : goal_->fabric().switch_node.indices()) {
      if (sw == left_out) continue;
      for (const Turn& way : ways_of(sw)) know(way, modulo_row(2));
    }
  }

  [[nodiscard]] SlToVlTask build(std::vector<Turn> blocked = {}) const {
    return build_lane_task(
        *goal_, AdvertisedRoutes{}, known, goal_->fabric().switch_count(), blocked);
  }

  /// The last switch answers nothing.
  [[nodiscard]] SlToVlTask build_with_last_silent() const {
    return build_lane_task(
        *goal_, AdvertisedRoutes{}, known, goal_->fabric().switch_count() - 1, {});
  }

  [[nodiscard]] SwitchIdx last() const {
    return SwitchIdx{static_cast<std::uint32_t>(goal_->fabric().switch_count() - 1)};
  }

  ConfirmedSlToVl known;

 private:
  std::unique_ptr<const ActiveSubnet> goal_;
};

TEST_F(LaneTaskOf, UnreadRowsOfASwitchThatForwardsMayBeAnything) {
  know_all_but(SwitchIdx{1});
  const SlToVlTask task = build();
  EXPECT_EQ(task.unknown, ways_of(SwitchIdx{1}));
  EXPECT_FALSE(task.fresh);
}

TEST_F(LaneTaskOf, UnwrittenRowsOfAFreshSwitchHarmNobodyYet) {
  know_all_but(SwitchIdx{0});
  const SlToVlTask task = build();
  EXPECT_THAT(task.unknown, testing::IsEmpty());
  EXPECT_TRUE(task.fresh);
}

TEST_F(LaneTaskOf, RowsAreHeldAsConfirmed) {
  know_all_but(SwitchIdx{0});
  const Turn way = ways_of(SwitchIdx{1}).front();
  know(way, modulo_row(5));
  const SlToVlTask task = build();
  EXPECT_EQ(task.held.row(way.sw, way.in, way.out), modulo_row(5));
  EXPECT_EQ(task.wanted.row(way.sw, way.in, way.out), modulo_row(2));
}

TEST_F(LaneTaskOf, BlockedTurnsAreOpenedWithTheirWantedRow) {
  know_all_but(SwitchIdx{0});
  const Turn way = ways_of(SwitchIdx{1}).front();
  know(way, modulo_row(1));
  EXPECT_EQ(build({way}).held.row(way.sw, way.in, way.out), modulo_row(2));
}

TEST_F(LaneTaskOf, ASwitchThatAnswersNothingKeepsWhatItConfirmed) {
  know_all_but(SwitchIdx{0});
  const Turn way = ways_of(last()).front();
  know(way, modulo_row(5));
  const SlToVlTask task = build_with_last_silent();
  EXPECT_EQ(task.held.row(way.sw, way.in, way.out), modulo_row(5));
  EXPECT_EQ(task.wanted.row(way.sw, way.in, way.out), modulo_row(5)) << "nobody can change it";
}

// A Set that it did not answer may have arrived or not.
TEST_F(LaneTaskOf, UnconfirmedRowsOfASwitchThatAnswersNothingMayBeAnything) {
  know_all_but(last());
  EXPECT_EQ(build_with_last_silent().unknown, ways_of(last()));
}

TEST_F(LaneTaskOf, WhoWasToldNothingCertainMayUseAnySl) {
  const SlToVlTask task = build();
  EXPECT_EQ(task.advertised->of(SwitchIdx{1}, Lid{1}), 0xffff);
}

// Both sets are as large as the tables, and a plan that tells no VLs apart does without.
TEST_F(LaneTaskOf, SlsOfHostsAreListedForPlansThatAsk) {
  know_all_but(last());
  const SlToVlTask task = build();
  const SlToVlTask copy = task;
  EXPECT_FALSE(task.advertised.is_made() || task.wanted_sls.is_made());
  EXPECT_EQ(copy.wanted_sls->of(SwitchIdx{1}, Lid{1}), 0xffff);
  EXPECT_TRUE(task.wanted_sls.is_made());
  EXPECT_FALSE(task.advertised.is_made());
}

/// Every switch leads to LIDs 2, 3 and 4; SLs are named for LIDs up to 3.
Routes loop_with_sls(IndexVector<SwitchIdx, PortNum> default_port = {}) {
  const HandMade made = loop_of_two();
  RoutingTables routing;
  routing.lft = made.wanted;
  routing.default_port = std::move(default_port);
  routing.path_sls = PathSls(made.fabric->switch_count(), Lid{3});
  for (const SwitchIdx sw : made.fabric->switch_node.indices()) {
    for (const unsigned lid : {2u, 3u, 4u})
      routing.lft.set_route(sw, Lid{static_cast<std::uint16_t>(lid)}, PortNum{1});
    routing.lft.set_route(sw, Lid{1}, kNoRoute);
    routing.path_sls.set_sl(sw, Lid{3}, 5);
  }
  return std::make_shared<const ActiveSubnet>(
      ActiveSubnet{.sweep = {.fabric = made.fabric},
                   .lids = made.lids,
                   .routing = std::move(routing),
                   .rows = build_switch_rows(*made.fabric, {}, modulo_row(8))});
}

TEST(LaneTask, PathsOfWhichRoutesNameNoSlTakeAny) {
  const Routes goal = loop_with_sls();
  const SlToVlTask task =
      build_lane_task(*goal, std::vector{goal}, {}, goal->fabric().switch_count(), {});
  for (const OnFirstUse<SlSets>& sets : {task.advertised, task.wanted_sls}) {
    for (const SwitchIdx sw : goal->fabric().switch_node.indices()) {
      EXPECT_EQ(sets->of(sw, Lid{0}), 0);
      EXPECT_EQ(sets->of(sw, Lid{2}), 1);
      EXPECT_EQ(sets->of(sw, Lid{3}), 1 << 5);
      for (std::uint16_t l = 4; l <= goal->routing->lft.top().value(); ++l)
        EXPECT_EQ(sets->of(sw, Lid{l}), 0xffff);
    }
  }
}

// The subnet administrator names no path then.
TEST(LaneTask, WhereThereWasNoRouteNobodyWasToldAnSl) {
  const Routes goal = loop_with_sls();
  const SlToVlTask task =
      build_lane_task(*goal, std::vector{goal}, {}, goal->fabric().switch_count(), {});
  for (const SwitchIdx sw : goal->fabric().switch_node.indices())
    EXPECT_EQ(task.advertised->of(sw, Lid{1}), 0);
}

// A default port leads everywhere.
TEST(LaneTask, WhereADefaultPortLeadsHostsWereToldAnSl) {
  IndexVector<SwitchIdx, PortNum> default_port;
  for (int i = 0; i < 3; ++i) default_port.push_back(PortNum{1});
  const Routes goal = loop_with_sls(std::move(default_port));
  const SlToVlTask task =
      build_lane_task(*goal, std::vector{goal}, {}, goal->fabric().switch_count(), {});
  EXPECT_EQ(task.advertised->of(SwitchIdx{1}, Lid{1}), 1);
}

Routes route_on(const std::shared_ptr<const Fabric>& fabric,
                const LidMap& lids,
                const char* engine,
                const Routes& before) {
  RoutingRequest request{.max_vls = 8};
  PreviousRoutes in_force;
  if (before) {
    in_force = {&before->fabric(), &*before->lids, &*before->routing};
    request.in_force = &in_force;
  }
  RoutingTables tables = find_engine(engine)->compute(*fabric, lids, request).value();
  SlToVlMaps rows = choose_rows(*fabric, tables, {}, {}, 8);
  return std::make_shared<const ActiveSubnet>(ActiveSubnet{.sweep = {.fabric = fabric},
                                                           .lids = lids,
                                                           .routing = std::move(tables),
                                                           .rows = std::move(rows)});
}

/// From the one to the other; switches that were not there hold no entries.
PlanJob job_between(const Routes& before, const Routes& goal) {
  const Fabric& then = before->fabric();
  const Fabric& now = goal->fabric();
  const ForwardingTables& lft = before->routing->lft;
  ForwardingTables held{now.switch_count(), goal->routing->lft.top()};
  ConfirmedSlToVl rows;
  for (const SwitchIdx sw : now.switch_node.indices()) {
    const Guid guid = now.node_guid[now.switch_node[sw]];
    for_each_turn(now, sw, [&](PortNum in, PortNum out) {
      rows.confirm(guid, in, out, modulo_row(before->routing->vls));
    });
    const auto node = then.find_node(guid);
    for (unsigned lid = 1; node && lid <= lft.top().value(); ++lid) {
      const Lid to{static_cast<std::uint16_t>(lid)};
      held.set_route(sw, to, lft.route(then.switch_of[*node], to));
    }
  }
  return {.goal = goal,
          .held = {.lft = std::move(held), .unknown = {}},
          .blocked = {},
          .options = {},
          .rows = std::move(rows),
          .advertised = std::vector{before},
          .found = now.switch_count()};
}

// Its paths are new, whatever layers they get: nobody was told an SL for one of them.
TEST(LaneTask, ASwitchThatComesBackIsFree) {
  for (const char* engine : {"dfsssp", "lash"}) {
    for (const std::string call :
         {"torus:dims=6.6,hosts=1", "irregular:switches=24,links=4,hosts=2,seed=2"}) {
      const Generated whole = generated(call);
      const Routes first = route_on(whole.shared, whole.lids, engine, nullptr);
      ASSERT_GT(first->routing->vls, 1u) << call << " " << engine;
      const auto names = Reshaped{call}.switches();
      for (std::size_t i = 1; i < names.size(); i += 5) {
        const auto left =
            std::make_shared<const Fabric>(Reshaped{call}.without_switch(names[i]).build());
        const LidMap lids = lids_as_before(*left, whole.fabric, whole.lids);
        const Routes lost = route_on(left, lids, engine, first);
        const Routes back = route_on(whole.shared, whole.lids, engine, lost);
        const TransitionPlan plan = compute_plan(job_between(lost, back));
        EXPECT_EQ(plan.kind, TransitionKind::Certified)
            << call << " " << engine << " " << names[i] << ": " << plan.why;
      }
    }
  }
}

// Packets on a VL that a link has and does not operate are discarded.
TEST(ChosenRows, NameVlsThatLinksOperate) {
  const HandMade made = loop_of_two();
  Fabric fabric = *made.fabric;
  for (const PortIdx port : fabric.peer.indices()) fabric.port_info[port].vl_cap = 4;  // 8 VLs
  for (const unsigned most : {1u, 2u, 8u}) {
    const SlToVlMaps rows = choose_rows(fabric, {}, {}, {}, most);
    unsigned highest = 0;
    for_each_turn(fabric, SwitchIdx{0}, [&](PortNum in, PortNum out) {
      for (const Vl vl : rows.row(SwitchIdx{0}, in, out))
        highest = std::max<unsigned>(highest, vl.value());
    });
    EXPECT_EQ(highest, most - 1);
  }
}

}  // namespace
}  // namespace smd::test

// What a plan is told of lanes: who was told which SLs, and what switches are known to hold.
#include "smd/manager/plan_job.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "smd/routing/sl_to_vl.h"
#include "tests/unit/plan/hand_made.h"

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

TEST(LaneTask, PathsOfWhichRoutesNameNoSlTakeAny) {
  const HandMade made = loop_of_two();
  RoutingTables routing;
  routing.lft = made.wanted;
  routing.path_sls = PathSls(made.fabric->switch_count(), Lid{3});
  for (const SwitchIdx sw : made.fabric->switch_node.indices())
    routing.path_sls.set_sl(sw, Lid{3}, 5);
  const auto goal = std::make_shared<const ActiveSubnet>(
      ActiveSubnet{.sweep = {.fabric = made.fabric},
                   .lids = made.lids,
                   .routing = std::move(routing),
                   .rows = build_switch_rows(*made.fabric, {}, modulo_row(8))});
  const SlToVlTask task =
      build_lane_task(*goal, std::vector{goal}, {}, made.fabric->switch_count(), {});
  for (const OnFirstUse<SlSets>& sets : {task.advertised, task.wanted_sls}) {
    for (const SwitchIdx sw : made.fabric->switch_node.indices()) {
      EXPECT_EQ(sets->of(sw, Lid{0}), 0);
      EXPECT_EQ(sets->of(sw, Lid{1}), 1);
      EXPECT_EQ(sets->of(sw, Lid{3}), 1 << 5);
      for (std::uint16_t l = 4; l <= made.wanted.top().value(); ++l)
        EXPECT_EQ(sets->of(sw, Lid{l}), 0xffff);
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

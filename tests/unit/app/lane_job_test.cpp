// What a plan is told of lanes: who was told which SLs, and what switches are known to hold.
#include "smd/app/lane_job.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "smd/routing/switch_rows.h"
#include "tests/unit/plan/hand_made.h"

namespace smd::test {
namespace {

using namespace std::chrono_literals;
using app::ActiveSubnet;
using app::Told;
using app::ToldSls;
using testing::ElementsAre;

using Routes = std::shared_ptr<const ActiveSubnet>;

Routes some_routes() { return std::make_shared<ActiveSubnet>(); }

constexpr TimePoint kStart{Duration{0}};

TEST(ToldSls, AnythingMayHaveBeenToldBefore) {
  EXPECT_EQ(ToldSls().at(kStart), std::nullopt);
  ToldSls told;
  told.tell(some_routes(), false, false, kStart);
  EXPECT_EQ(told.at(kStart), std::nullopt);
}

TEST(ToldSls, WhatWasReplacedIsUsedForAWhile) {
  ToldSls told;
  const Routes first = some_routes(), second = some_routes();
  told.tell(first, true, true, kStart);
  EXPECT_THAT(*told.at(kStart), ElementsAre(first)) << "no link carried data: nobody uses others";
  told.tell(second, true, false, kStart + 1s);
  EXPECT_THAT(*told.at(kStart + 60s), ElementsAre(first, second));
  EXPECT_THAT(*told.at(kStart + 61s), ElementsAre(second));
}

TEST(ToldSls, WhatWasNotCarriedOutReplacesNothing) {
  ToldSls told;
  const Routes first = some_routes(), second = some_routes();
  told.tell(first, true, true, kStart);
  told.tell(second, false, true, kStart);
  EXPECT_THAT(*told.at(kStart + 1h), ElementsAre(first, second));
}

TEST(ToldSls, RoutesThatAreWantedAgainAreThereOnce) {
  ToldSls told;
  const Routes first = some_routes(), second = some_routes();
  told.tell(first, true, true, kStart);
  told.tell(second, true, false, kStart);
  told.tell(first, true, false, kStart);
  EXPECT_THAT(*told.at(kStart), ElementsAre(second, first));
  EXPECT_THAT(*told.at(kStart + 60s), ElementsAre(first));
}

TEST(ToldSls, OfTooManyAnythingMayBeUsed) {
  ToldSls told;
  told.tell(some_routes(), true, true, kStart);
  for (int i = 1; i < 8; ++i) told.tell(some_routes(), false, false, kStart);
  EXPECT_EQ(told.at(kStart)->size(), 8u);
  told.tell(some_routes(), false, false, kStart);
  EXPECT_EQ(told.at(kStart + 59s), std::nullopt);
  EXPECT_EQ(told.at(kStart + 60s)->size(), 1u);
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
    for_each_way(goal_->fabric(), sw, [&](PortNum in, PortNum out) {
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

  [[nodiscard]] LaneTask build(std::vector<Turn> blocked = {}) const {
    return app::build_lane_task(*goal_, Told{}, known, goal_->fabric().switch_count(), blocked);
  }

  RowMemory known;

 private:
  std::unique_ptr<const ActiveSubnet> goal_;
};

TEST_F(LaneTaskOf, UnreadRowsOfASwitchThatForwardsMayBeAnything) {
  know_all_but(SwitchIdx{1});
  const LaneTask task = build();
  EXPECT_EQ(task.unknown, ways_of(SwitchIdx{1}));
  EXPECT_FALSE(task.fresh);
}

TEST_F(LaneTaskOf, UnwrittenRowsOfAFreshSwitchHarmNobodyYet) {
  know_all_but(SwitchIdx{0});
  const LaneTask task = build();
  EXPECT_THAT(task.unknown, testing::IsEmpty());
  EXPECT_TRUE(task.fresh);
}

TEST_F(LaneTaskOf, RowsAreHeldAsConfirmed) {
  know_all_but(SwitchIdx{0});
  const Turn way = ways_of(SwitchIdx{1}).front();
  know(way, modulo_row(5));
  const LaneTask task = build();
  EXPECT_EQ(task.held.row(way.sw, way.in, way.out), modulo_row(5));
  EXPECT_EQ(task.wanted.row(way.sw, way.in, way.out), modulo_row(2));
}

TEST_F(LaneTaskOf, BlockedTurnsAreOpenedWithTheirWantedRow) {
  know_all_but(SwitchIdx{0});
  const Turn way = ways_of(SwitchIdx{1}).front();
  know(way, modulo_row(1));
  EXPECT_EQ(build({way}).held.row(way.sw, way.in, way.out), modulo_row(2));
}

TEST_F(LaneTaskOf, WhoWasToldNothingCertainMayUseAnySl) {
  const LaneTask task = build();
  EXPECT_EQ(task.told.of(SwitchIdx{1}, Lid{1}), 0xffff);
}

}  // namespace
}  // namespace smd::test

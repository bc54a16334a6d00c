// What runs off the loop: a plan that its check refuses is not carried out, and final routes take
// over LID by LID.
#include "smd/manager/plan_job.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "smd/manager/route_job.h"
#include "tests/unit/plan/hand_made.h"

namespace smd::test {
namespace {

using testing::HasSubstr;

PlanJob job_of(const HandMade& made) {
  RoutingTables goal;
  goal.lft = made.wanted;
  goal.orientation = made.orientation;
  SweepReport sweep;
  sweep.fabric = made.fabric;
  return {.goal = std::make_shared<ActiveSubnet>(
              ActiveSubnet{.sweep = sweep, .lids = made.lids, .routing = goal}),
          .held = {.lft = made.held, .unknown = made.unknown},
          .blocked = made.blocked,
          .options = {}};
}

TEST(PlanJob, WhatTheCheckAcceptsIsThePlan) {
  const TransitionPlan plan = compute_plan(job_of(loop_of_two()));
  EXPECT_EQ(plan.kind, TransitionKind::Certified);
  EXPECT_EQ(plan.why, "");
}

TEST(PlanJob, WhatTheCheckRefusesIsNotCarriedOut) {
  HandMade made = loop_of_two();
  // A turn that is on the list twice would be restored twice, which makes no sense.
  made.blocked = {made.turn("S1", "S2", "S3"), made.turn("S1", "S2", "S3")};
  PlanJob job = job_of(made);
  for (const auto& [unproved, kind] : {std::pair{Unproved::Write, TransitionKind::NextHopFirst},
                                       std::pair{Unproved::Hold, TransitionKind::Held},
                                       std::pair{Unproved::Block, TransitionKind::DeactivateAll}}) {
    job.options.unproved = unproved;
    const TransitionPlan plan = compute_plan(job);
    EXPECT_EQ(plan.kind, kind);
    EXPECT_THAT(plan.why, HasSubstr("the certified plan was refused: phase 1: "));
    if (unproved != Unproved::Block) {
      EXPECT_FALSE(plan.certified());
    }
  }
}

TEST(UnresponsivePlan, LeadsNothingAside) {
  // Entries on the way might be wanted of what lingers, which takes none.
  const PlanJob job = job_of(moved_cut_node());
  EXPECT_EQ(compute_plan(job).kind, TransitionKind::Certified);
  const TransitionPlan plan = compute_plan(UnresponsiveJob{.job = job, .without = job});
  EXPECT_EQ(plan.kind, TransitionKind::CutDependencies);
  EXPECT_EQ(plan.why.find("taken down"), std::string::npos) << plan.why;
}

TEST(TakeOver, TheLastLidIsTakenAndTheNextIsNot) {
  RoutingTables now, next;
  now.lft = ForwardingTables{2, Lid{9}};
  next.lft = ForwardingTables{2, Lid{9}};
  for (const SwitchIdx sw : {SwitchIdx{0}, SwitchIdx{1}}) {
    for (std::uint16_t lid = 1; lid <= 9; ++lid) {
      now.lft.set_route(sw, Lid{lid}, PortNum{1});
      next.lft.set_route(sw, Lid{lid}, PortNum{2});
    }
  }
  next.engine = "next";
  const RoutingTables mixed = take_over(now, next, Lid{4});
  EXPECT_EQ(mixed.engine, "next");
  for (const SwitchIdx sw : {SwitchIdx{0}, SwitchIdx{1}}) {
    for (std::uint16_t lid = 1; lid <= 9; ++lid)
      EXPECT_EQ(mixed.lft.route(sw, Lid{lid}),
                PortNum{lid <= 4 ? std::uint8_t{2} : std::uint8_t{1}})
          << lid;
  }
  EXPECT_EQ(take_over(now, next, Lid{9}).lft, next.lft);
  EXPECT_EQ(take_over(now, next, Lid{0}).lft, now.lft);
}

}  // namespace
}  // namespace smd::test

#include "smd/plan/make/planner.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "smd/plan/verify/check_transition.h"
#include "tests/unit/plan/hand_made.h"
#include "tests/unit/plan/plan_world.h"
#include "tests/unit/plan/transient_oracle.h"

namespace smd::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

EntryChange entry(const HandMade& made, std::string_view at, unsigned lid) {
  const SwitchIdx sw = switch_named(*made.fabric, at);
  const Lid to{static_cast<std::uint16_t>(lid)};
  return {sw, to, made.wanted.route(sw, to)};
}

/// Every subset of every phase's entries, in force at once.
void try_all_mixtures(const TransitionTask& task, const TransitionPlan& plan) {
  Moment moment = Moment::begin(task);
  const bool discards = plan.kind != TransitionKind::Certified;
  for (const TransitionPhase& phase : plan.phases) {
    moment.blocked.insert(phase.block.begin(), phase.block.end());
    for (const Turn& turn : phase.restore) moment.blocked.erase(turn);
    const ForwardingTables before = moment.tables;
    ASSERT_LE(phase.entries.size(), 12u);
    for (unsigned subset = 0; subset < 1u << phase.entries.size(); ++subset) {
      moment.tables = before;
      for (std::size_t i = 0; i < phase.entries.size(); ++i) {
        if (subset >> i & 1)
          moment.tables.set_route(
              phase.entries[i].sw, phase.entries[i].lid, phase.entries[i].egress);
      }
      ASSERT_EQ(find_cycle(moment, discards), "") << "subset " << subset;
    }
    moment.active.insert(phase.activate.begin(), phase.activate.end());
    ASSERT_EQ(find_cycle(moment, discards), "");
  }
  EXPECT_EQ(moment.tables, *task.wanted);
}

TEST(Planner, NothingToDoIsNoPlan) {
  HandMade made = loop_of_two();
  made.wanted = made.held;
  const TransitionPlan plan = plan_transition(made.task(), {});
  EXPECT_EQ(plan.kind, TransitionKind::Nothing);
  EXPECT_THAT(plan.phases, IsEmpty());
  EXPECT_TRUE(check_transition(made.task(), plan).ok());
}

TEST(Planner, WholeTablesAreWrittenThoughNothingDiffers) {
  HandMade made = loop_of_two();
  made.wanted = made.held;
  const TransitionPlan plan = plan_transition(made.task(), {.whole_tables = true});
  EXPECT_TRUE(plan.whole_tables);
  ASSERT_EQ(plan.phases.size(), 1u);
  EXPECT_THAT(plan.phases[0].entries, IsEmpty());
  EXPECT_EQ(check_transition(made.task(), plan).fault, "");
}

TEST(Planner, AnEntryThatMixesWellIsOnePhase) {
  HandMade made = loop_of_two();
  made.wanted = tables_from(*made.fabric, "S1>H3=S3", made.held);
  const TransitionPlan plan = plan_transition(made.task(), {});
  EXPECT_EQ(plan.kind, TransitionKind::Certified);
  ASSERT_EQ(plan.phases.size(), 1u);
  EXPECT_THAT(plan.phases[0].entries, ElementsAre(entry(made, "S1", 3)));
  EXPECT_TRUE(plan.certified());
  EXPECT_EQ(check_transition(made.task(), plan).fault, "");
}

TEST(Planner, WhoSendsToANeighbourWaitsUntilItKnowsTheWay) {
  const HandMade made = loop_of_two();
  const TransitionPlan plan = plan_transition(made.task(), {});
  EXPECT_EQ(plan.kind, TransitionKind::Certified);
  ASSERT_EQ(plan.phases.size(), 2u);
  EXPECT_THAT(plan.phases[0].entries, ElementsAre(entry(made, "S1", 3)));
  EXPECT_THAT(plan.phases[1].entries, ElementsAre(entry(made, "S2", 3)));
  EXPECT_EQ(plan.in_flight, InFlight::Linger);
  EXPECT_EQ(check_transition(made.task(), plan).fault, "");
  try_all_mixtures(made.task(), plan);
}

TEST(Planner, ASwitchGetsItsFirstEntryBeforePacketsAreLedThere) {
  const HandMade made = first_entry();
  const TransitionPlan plan = plan_transition(made.task(), {});
  EXPECT_EQ(plan.kind, TransitionKind::Certified);
  ASSERT_EQ(plan.phases.size(), 2u);
  EXPECT_THAT(plan.phases[0].entries, ElementsAre(entry(made, "S2", 3)));
  EXPECT_THAT(plan.phases[1].entries, ElementsAre(entry(made, "S1", 3)));
  EXPECT_TRUE(plan.certified());
  EXPECT_EQ(check_transition(made.task(), plan).fault, "");
  try_all_mixtures(made.task(), plan);
}

TEST(Planner, ASwitchLeadsPastALostCableBeforePacketsAreLedThere) {
  const HandMade made = dead_entry();
  const TransitionPlan plan = plan_transition(made.task(), {});
  EXPECT_EQ(plan.kind, TransitionKind::Certified);
  ASSERT_EQ(plan.phases.size(), 2u);
  EXPECT_THAT(plan.phases[0].entries, ElementsAre(entry(made, "S2", 3)));
  EXPECT_THAT(plan.phases[1].entries, ElementsAre(entry(made, "S1", 3)));
  EXPECT_EQ(check_transition(made.task(), plan).fault, "");
}

TEST(Planner, PacketsAreKeptAwayFromASwitchWhoseFirstEntryHasToWait) {
  const HandMade made = first_entry_that_waits();
  const TransitionPlan plan = plan_transition(made.task(), {});
  EXPECT_EQ(plan.kind, TransitionKind::Certified);
  ASSERT_EQ(plan.phases.size(), 3u);
  EXPECT_THAT(plan.phases[0].entries, ElementsAre(entry(made, "S2", 2)));
  EXPECT_THAT(plan.phases[1].entries, ElementsAre(entry(made, "S2", 1)));
  EXPECT_THAT(plan.phases[2].entries, ElementsAre(entry(made, "S4", 1)));
  EXPECT_EQ(check_transition(made.task(), plan).fault, "");
  try_all_mixtures(made.task(), plan);
}

TEST(Planner, FirstEntriesAreOnePhaseWhereAllPacketsAreLostBefore) {
  HandMade made = first_entry();
  made.held = tables_from(*made.fabric, "S1>H3=H3", made.held);  // no such link
  const TransitionPlan plan = plan_transition(made.task(), {});
  EXPECT_EQ(plan.phases.size(), 1u);
  EXPECT_EQ(check_transition(made.task(), plan).fault, "");
}

TEST(Planner, CountsOnADrainedFabricOnlyWhereItMust) {
  const HandMade made = circle_of_late_packets();
  const TransitionPlan plan = plan_transition(made.task(), {});
  EXPECT_EQ(plan.kind, TransitionKind::Certified);
  ASSERT_EQ(plan.phases.size(), 2u);
  EXPECT_THAT(plan.phases[0].entries, ElementsAre(entry(made, "S1", 3)));
  EXPECT_EQ(plan.in_flight, InFlight::Drained);
  EXPECT_EQ(check_transition(made.task(), plan).fault, "");
  try_all_mixtures(made.task(), plan);
}

/// Too few phases to lead anything aside.
constexpr PlannerOptions kBrief{.max_phases = 2};

TEST(Planner, AMovedCutNodeIsPassedByOverDetours) {
  for (const bool oriented : {true, false}) {
    HandMade made = moved_cut_node();
    if (!oriented) made.orientation = {};
    const TransitionPlan plan = plan_transition(made.task(), {});
    EXPECT_EQ(plan.kind, TransitionKind::Certified);
    EXPECT_GT(plan.phases.size(), 2u);
    EXPECT_EQ(plan.in_flight, InFlight::Drained);
    EXPECT_TRUE(plan.blocked.empty());
    EXPECT_EQ(check_transition(made.task(), plan).fault, "");
    try_all_mixtures(made.task(), plan);
    std::size_t aside = 0;
    for (const TransitionPhase& phase : plan.phases) {
      for (const EntryChange& entry : phase.entries)
        aside += entry.egress != made.wanted.route(entry.sw, entry.lid);
    }
    EXPECT_GT(aside, 0u);
  }
}

TEST(Planner, WithoutDetoursNoEntryIsLedAside) {
  const HandMade made = moved_cut_node();
  EXPECT_EQ(plan_transition(made.task(), {.detours = false}).kind, TransitionKind::CutDependencies);
}

TEST(Planner, DetoursDoNotNeedTurnsThatAreBlocked) {
  // One turn of the ring after the other.
  const HandMade made = moved_cut_node();
  unsigned certified = 0, refused = 0;
  const TransitionPlan free = plan_transition(made.task(), {});
  for (const Turn& turn : {made.turn("S2", "S1", "S4"),
                           made.turn("S4", "S1", "S2"),
                           made.turn("S1", "S2", "S3"),
                           made.turn("S3", "S2", "S1"),
                           made.turn("S2", "S3", "S4"),
                           made.turn("S4", "S3", "S2"),
                           made.turn("S3", "S4", "S1"),
                           made.turn("S1", "S4", "S3")}) {
    SCOPED_TRACE(print_turn(*made.fabric, turn));
    HandMade blocked = made;
    blocked.blocked = {turn};
    const TransitionPlan plan = plan_transition(blocked.task(), {});
    EXPECT_EQ(check_transition(blocked.task(), plan).fault, "");
    certified += plan.kind == TransitionKind::Certified && plan.blocked == blocked.blocked;
    TransitionPlan forged = free;
    forged.blocked = blocked.blocked;
    refused +=
        check_transition(blocked.task(), forged).fault.find("led aside") != std::string::npos;
  }
  EXPECT_EQ(certified, 2u) << "those of S1, which the new routes leave";
  EXPECT_GT(refused, 0u);
}

TEST(Planner, AMovedCutNodeNeedsBlockedTurnsWhereTimeIsShort) {
  const HandMade made = moved_cut_node();
  const TransitionPlan plan = plan_transition(made.task(), kBrief);
  EXPECT_EQ(plan.kind, TransitionKind::CutDependencies);
  ASSERT_EQ(plan.phases.size(), 1u);
  EXPECT_THAT(plan.phases[0].block,
              ElementsAre(made.turn("S2", "S1", "S4"), made.turn("S4", "S1", "S2")));
  EXPECT_EQ(plan.blocked, plan.phases[0].block);
  EXPECT_EQ(plan.why,
            "no order of 2 entries in 2 phases or fewer keeps every mixture free of cycles; 2 "
            "turns blocked");
  EXPECT_EQ(check_transition(made.task(), plan).fault, "");
  try_all_mixtures(made.task(), plan);
}

TEST(Planner, FewestTurnsAreBlockedWithoutAnOrientationToo) {
  HandMade made = moved_cut_node();
  made.orientation = {};
  const TransitionPlan plan = plan_transition(made.task(), kBrief);
  EXPECT_EQ(plan.kind, TransitionKind::CutDependencies);
  EXPECT_EQ(plan.phases[0].block.size(), 2u);
  EXPECT_EQ(check_transition(made.task(), plan).fault, "");
}

TEST(Planner, WhatTheNewRoutesNeedIsRestored) {
  HandMade made = moved_cut_node();
  const TransitionPlan there = plan_transition(made.task(), kBrief);
  std::swap(made.held, made.wanted);
  made.blocked = there.blocked;
  made.orientation.rank = {0, 1, 2, 1};
  const TransitionPlan back = plan_transition(made.task(), kBrief);
  EXPECT_EQ(back.kind, TransitionKind::CutDependencies);
  EXPECT_EQ(back.phases[0].restore, there.blocked);
  EXPECT_THAT(back.phases[0].block,
              ElementsAre(made.turn("S2", "S3", "S4"), made.turn("S4", "S3", "S2")));
  EXPECT_EQ(back.blocked, back.phases[0].block);
  EXPECT_EQ(check_transition(made.task(), back).fault, "");
}

TEST(Planner, ForbiddenTurnsMayStayBlocked) {
  HandMade made = moved_cut_node();
  made.held = made.wanted;
  made.blocked = {made.turn("S2", "S1", "S4"), made.turn("S4", "S1", "S2")};
  EXPECT_EQ(plan_transition(made.task(), {}).kind, TransitionKind::Nothing);
  EXPECT_EQ(plan_transition(made.task(), {}).blocked, made.blocked);
  EXPECT_TRUE(check_transition(made.task(), plan_transition(made.task(), {})).ok());
}

TEST(Planner, CutDependenciesBlockAllThatTheOrientationForbids) {
  HandMade made = moved_cut_node();
  made.held = made.wanted;
  made.wanted = tables_from(*made.fabric, "S2>H9=S3", made.held);
  EXPECT_EQ(plan_transition(made.task(), {}).kind, TransitionKind::Certified);
  const TransitionPlan plan =
      plan_transition(made.task(), {.first = Deactivation::CutDependencies});
  EXPECT_EQ(plan.kind, TransitionKind::CutDependencies);
  EXPECT_THAT(plan.phases[0].block,
              ElementsAre(made.turn("S2", "S1", "S4"), made.turn("S4", "S1", "S2")));
  EXPECT_EQ(plan.why, "");
  EXPECT_EQ(check_transition(made.task(), plan).fault, "");
}

TEST(Planner, CutDependenciesWithoutAnOrientationBlockWhatTheyMust) {
  HandMade made = moved_cut_node();
  made.orientation = {};
  const TransitionPlan plan =
      plan_transition(made.task(), {.first = Deactivation::CutDependencies});
  EXPECT_EQ(plan.kind, TransitionKind::CutDependencies);
  EXPECT_EQ(plan.phases[0].block.size(), 2u);
  EXPECT_THAT(plan.why, HasSubstr("without an orientation"));
  EXPECT_EQ(check_transition(made.task(), plan).fault, "");
}

TEST(Planner, CutPortsKeepTheHighestUpPort) {
  const HandMade made = moved_cut_node();
  const TransitionPlan plan = plan_transition(made.task(), {.first = Deactivation::CutPorts});
  EXPECT_EQ(plan.kind, TransitionKind::CutPorts);
  ASSERT_EQ(plan.phases.size(), 2u);
  EXPECT_THAT(plan.phases[0].deactivate, ElementsAre(port_towards(*made.fabric, "S1", "S2")));
  EXPECT_EQ(plan.phases[0].entries.size(), 2u);
  EXPECT_EQ(plan.phases[1].activate, plan.phases[0].deactivate);
  EXPECT_TRUE(plan.certified());
  EXPECT_EQ(check_transition(made.task(), plan).fault, "");
}

TEST(Planner, CutPortsWithoutAnOrientationAreAllPorts) {
  HandMade made = moved_cut_node();
  made.orientation = {};
  const TransitionPlan plan = plan_transition(made.task(), {.first = Deactivation::CutPorts});
  EXPECT_EQ(plan.kind, TransitionKind::DeactivateAll);
  EXPECT_EQ(plan.phases[0].deactivate.size(), 20u);  // both ends of four cables and six of hosts
  EXPECT_EQ(plan.phases[0].activate, plan.phases[0].deactivate);
  EXPECT_THAT(plan.why, HasSubstr("no orientation"));
  EXPECT_EQ(check_transition(made.task(), plan).fault, "");
}

TEST(Planner, WithoutDeactivationNothingIsProved) {
  const HandMade made = moved_cut_node();
  const TransitionPlan plan = plan_transition(made.task(), {.first = Deactivation::None});
  EXPECT_EQ(plan.kind, TransitionKind::Unordered);
  ASSERT_EQ(plan.phases.size(), 1u);
  EXPECT_FALSE(plan.certified());
  EXPECT_EQ(plan.phases[0].entries.size(), 2u);
  EXPECT_EQ(check_transition(made.task(), plan).fault, "");
}

TEST(Planner, RoutesThatCloseACycleThemselvesCannotBeProved) {
  HandMade made = moved_cut_node();
  made.wanted = tables_from(*made.fabric, "S4>H2=S1", made.wanted);
  const TransitionPlan plan = plan_transition(made.task(), {});
  EXPECT_EQ(plan.kind, TransitionKind::Unordered);
  EXPECT_THAT(plan.why, HasSubstr("close a cycle themselves"));
}

TEST(Planner, CablesBetweenSwitchesCarryDataBeforeEntriesLeadOverThem) {
  const HandMade made = new_cable();
  const TransitionPlan plan = plan_transition(made.task(), {});
  EXPECT_EQ(plan.kind, TransitionKind::Certified);
  ASSERT_EQ(plan.phases.size(), 2u);
  EXPECT_THAT(plan.phases[0].entries, IsEmpty());
  EXPECT_THAT(plan.phases[0].activate,
              ElementsAre(port(*made.fabric, "S1:1"), port(*made.fabric, "S2:1")));
  EXPECT_EQ(plan.phases[1].entries.size(), 2u);
  EXPECT_EQ(check_transition(made.task(), plan).fault, "");
  try_all_mixtures(made.task(), plan);
}

TEST(Planner, ACableThatNobodyUsesIsWokenInTheSamePhase) {
  HandMade made = new_cable();
  made.wanted = tables_from(*made.fabric, "S2>H9=S3", made.held);
  const TransitionPlan plan = plan_transition(made.task(), {});
  ASSERT_EQ(plan.phases.size(), 1u);
  EXPECT_EQ(plan.phases[0].entries.size(), 1u);
  EXPECT_EQ(plan.phases[0].activate.size(), 2u);
  EXPECT_EQ(check_transition(made.task(), plan).fault, "");
}

//   S1 - S2 ~ S3 ~ H3    S3 is new.
TEST(Planner, ANewSwitchHasItsEntriesBeforeItsLinksCarryDataAndHostsComeLast) {
  HandMade made{
      "S1-S2 S2~S3 S3~H3 S1-H1", "S1>H1=H1 S2>H1=S1", "S1>H3=S2 S2>H3=S3 S3>H3=H3 S3>H1=S2"};
  const TransitionPlan plan = plan_transition(made.task(), {});
  EXPECT_EQ(plan.kind, TransitionKind::Certified);
  ASSERT_EQ(plan.phases.size(), 2u);
  EXPECT_THAT(plan.phases[0].entries, ElementsAre(entry(made, "S3", 1), entry(made, "S3", 3)));
  EXPECT_THAT(
      plan.phases[0].activate,
      ElementsAre(port_towards(*made.fabric, "S2", "S3"), port_towards(*made.fabric, "S3", "S2")));
  EXPECT_THAT(plan.phases[1].entries, ElementsAre(entry(made, "S1", 3), entry(made, "S2", 3)));
  EXPECT_THAT(plan.phases[1].activate,
              ElementsAre(port_towards(*made.fabric, "S3", "H3"), port(*made.fabric, "H3:1")));
  EXPECT_EQ(check_transition(made.task(), plan).fault, "");
}

TEST(Planner, ANewSwitchThatNobodySendsToIsOnePhase) {
  HandMade made{"S1-S2 S2~S3 S3~H3 S1-H1", "S1>H1=H1 S2>H1=S1", "S3>H1=S2"};
  const TransitionPlan plan = plan_transition(made.task(), {});
  ASSERT_EQ(plan.phases.size(), 1u);
  EXPECT_THAT(plan.phases[0].entries, ElementsAre(entry(made, "S3", 1)));
  EXPECT_EQ(plan.phases[0].activate.size(), 4u);
  EXPECT_EQ(check_transition(made.task(), plan).fault, "");
}

TEST(Planner, ABringUpIsOnePhaseInAnyOrder) {
  HandMade made{"S1~S2 S2~S3 S3~S1 S3~H3", "", "S1>H3=S3 S2>H3=S1 S3>H3=H3"};
  const TransitionPlan plan = plan_transition(made.task(), {});
  EXPECT_EQ(plan.kind, TransitionKind::Initial);
  ASSERT_EQ(plan.phases.size(), 1u);
  EXPECT_TRUE(plan.phases[0].to_wanted);
  EXPECT_THAT(plan.phases[0].entries, IsEmpty());
  EXPECT_EQ(plan.phases[0].activate.size(), 8u);
  EXPECT_TRUE(plan.certified());
  EXPECT_EQ(check_transition(made.task(), plan).fault, "");
}

TEST(Planner, UnknownBlocksAtSwitchesWithDataNeedBlockedTurns) {
  const HandMade made = unknown_block();
  const TransitionPlan plan = plan_transition(made.task(), {});
  EXPECT_EQ(plan.kind, TransitionKind::CutDependencies);
  EXPECT_THAT(plan.phases[0].block,
              ElementsAre(made.turn("S2", "S1", "S4"), made.turn("S4", "S1", "S2")));
  EXPECT_EQ(plan.phases.back().entries.size(), 63u);
  EXPECT_EQ(check_transition(made.task(), plan).fault, "");
}

TEST(Planner, UnknownBlocksWhereNoDataFlowsDoNoHarm) {
  HandMade made{
      "S1-S2 S2~S3 S3~H3 S1-H1", "S1>H1=H1 S2>H1=S1", "S1>H3=S2 S2>H3=S3 S3>H3=H3 S3>H1=S2"};
  made.unknown = {{switch_named(*made.fabric, "S3"), 0}};
  const TransitionPlan plan = plan_transition(made.task(), {});
  EXPECT_EQ(plan.kind, TransitionKind::Certified);
  EXPECT_EQ(plan.phases[0].entries.size(), 63u);
  EXPECT_EQ(check_transition(made.task(), plan).fault, "");
}

TEST(Planner, RoutesBeyondTheEndOfTheNewTablesAreWithdrawn) {
  HandMade made = loop_of_two();
  made.held = tables_from(*made.fabric, "S1>H3=S2 S2>H3=S3 S3>H3=H3 S1>H70=S2", 80);
  made.wanted = tables_from(*made.fabric, "S1>H3=S2 S2>H3=S3 S3>H3=H3", 9);
  const TransitionPlan plan = plan_transition(made.task(), {});
  ASSERT_EQ(plan.phases.size(), 1u);
  EXPECT_THAT(plan.phases[0].entries,
              ElementsAre(EntryChange{switch_named(*made.fabric, "S1"), Lid{70}, kNoRoute}));
  EXPECT_EQ(check_transition(made.task(), plan).fault, "");
}

TEST(Planner, NextHopFirstGoesOutwardsFromTheDestination) {
  //   S4 - S1 - S2 - S3 - H3, and S4 - S3.
  HandMade made{
      "S1-S2 S2-S3 S1-S4 S4-S3 S3-H3", "S1>H3=S2 S2>H3=S3 S3>H3=H3 S4>H3=S3", "S2>H3=S1 S1>H3=S4"};
  const TransitionPlan plan = plan_next_hop_first(made.task(), {});
  EXPECT_EQ(plan.kind, TransitionKind::NextHopFirst);
  ASSERT_EQ(plan.phases.size(), 2u);
  EXPECT_THAT(plan.phases[0].entries, ElementsAre(entry(made, "S1", 3)));
  EXPECT_THAT(plan.phases[1].entries, ElementsAre(entry(made, "S2", 3)));
  EXPECT_TRUE(plan.certified());
  EXPECT_EQ(check_transition(made.task(), plan).fault, "");
}

TEST(Planner, AFailedCableOfAFatTreeIsTwoPhases) {
  // Two spines, three leaves; the cable S1-S3 fails and everybody goes through S2. What S1 has for
  // S3 now goes through another leaf, which has to know the way around S1 first.
  ChangeSpec spec{.before =
                      "S1/4 S2/4 S3/4 S4/4 S5/4 S1:1-S3:1 S1:2-S4:1 S1:3-S5:1 S2:1-S3:2 "
                      "S2:2-S4:2 S2:3-S5:2 H1-S3:3 H2-S4:3 H3-S5:3",
                  .after =
                      "S1/4 S2/4 S3/4 S4/4 S5/4 S1:2-S4:1 S1:3-S5:1 S2:1-S3:2 "
                      "S2:2-S4:2 S2:3-S5:2 H1-S3:3 H2-S4:3 H3-S5:3",
                  .switches = 5,
                  .old_roots = {switch_guid(2)}};
  const Change change = make_change(spec);
  const TransitionPlan plan = plan_transition(change.task(), {});
  EXPECT_EQ(plan.kind, TransitionKind::Certified);
  EXPECT_EQ(plan.phases.size(), 2u);
  EXPECT_EQ(plan.in_flight, InFlight::Linger);
  EXPECT_EQ(check_transition(change.task(), plan).fault, "");
}

}  // namespace
}  // namespace smd::test

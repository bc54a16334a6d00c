// Plans that lie, each in one way, and what the judge says.
#include "smd/plan/verify/check_transition.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

#include "smd/plan/make/planner.h"
#include "tests/unit/plan/hand_made.h"

namespace smd::test {
namespace {

using testing::HasSubstr;

struct Forgery {
  const char* name;
  HandMade (*network)();
  std::function<void(const HandMade&, TransitionPlan&)> forge;
  const char* fault;
};

HandMade two_new_links() {
  return {"S1-S2 S2~S3 S3~H3 S1-H1", "S1>H1=H1 S2>H1=S1", "S1>H3=S2 S2>H3=S3 S3>H3=H3 S3>H1=S2"};
}

/// One end of the cable is Armed only: it becomes Active with the first packet that comes in.
HandMade with_armed(HandMade made, std::string_view at, std::string_view towards) {
  Fabric fabric = *made.fabric;
  const PortIdx own = port_towards(fabric, at, towards);
  fabric.port_info[own].port_state = static_cast<std::uint8_t>(PortState::Armed);
  fabric.port_info[fabric.peer[own]].port_state = static_cast<std::uint8_t>(PortState::Active);
  made.fabric = std::make_shared<const Fabric>(std::move(fabric));
  return made;
}

class CheckTransition : public testing::TestWithParam<Forgery> {};

TEST_P(CheckTransition, FindsTheForgery) {
  const HandMade made = GetParam().network();
  TransitionPlan plan = plan_transition(made.task(), {.max_phases = 2});
  ASSERT_EQ(check_transition(made.task(), plan).fault, "");
  GetParam().forge(made, plan);
  EXPECT_THAT(check_transition(made.task(), plan).fault, HasSubstr(GetParam().fault));
}

std::uint32_t& order_of(const HandMade& made,
                        TransitionPhase& phase,
                        std::string_view from,
                        std::string_view to) {
  return phase.certificate[port_towards(*made.fabric, from, to)];
}

/// What has to come first comes with what follows it.
void write_first_with_last(const HandMade&, TransitionPlan& plan) {
  TransitionPhase& last = plan.phases.back();
  const std::vector<EntryChange> first = plan.phases.front().entries;
  last.entries.insert(last.entries.end(), first.begin(), first.end());
  std::ranges::sort(last.entries);
  if (plan.phases.size() > 1) plan.phases.erase(plan.phases.begin());
}

const Forgery kForgeries[] = {
    {"AMissingPhase",
     loop_of_two,
     [](const HandMade&, TransitionPlan& plan) { plan.phases.pop_back(); },
     "after the last phase lid 3 leaves S2:0 by port 2 instead of 1"},
    {"PhasesInTheWrongOrder",
     loop_of_two,
     [](const HandMade&, TransitionPlan& plan) { std::swap(plan.phases[0], plan.phases[1]); },
     "phase 1: packets to lid 3 can go from "},
    {"BothPhasesInOne",
     loop_of_two,
     [](const HandMade&, TransitionPlan& plan) {
       plan.phases[0].entries.push_back(plan.phases[1].entries[0]);
       plan.phases.pop_back();
     },
     "phase 1: packets to lid 3 can go from "},
    {"PacketsLedToASwitchThatHasNoEntryYet",
     first_entry,
     write_first_with_last,
     "phase 1: its entry for lid 3 at S1 leads to S2, which may have none yet"},
    {"PacketsLedToASwitchThatStillLeadsOverALostCable",
     dead_entry,
     write_first_with_last,
     "phase 1: its entry for lid 3 at S1 leads to S2, which may have none yet"},
    {"PacketsLedToASwitchThatGetsItsEntryInALaterPhase",
     first_entry_that_waits,
     [](const HandMade&, TransitionPlan& plan) {
       TransitionPhase& first = plan.phases.front();
       first.entries.push_back(plan.phases.back().entries.back());
       plan.phases.back().entries.pop_back();
     },
     "phase 1: its entry for lid 1 at S4 leads to S2, which may have none yet"},
    {"TwoChannelsOfTheCertificateExchanged",
     loop_of_two,
     [](const HandMade& made, TransitionPlan& plan) {
       std::swap(order_of(made, plan.phases[1], "S2", "S1"),
                 order_of(made, plan.phases[1], "S1", "S3"));
     },
     "phase 2: packets to lid 3 can go from S2:1 on to S1:2, where the certificate falls from "},
    {"ACertificateThatIsFlat",
     loop_of_two,
     [](const HandMade& made, TransitionPlan& plan) {
       plan.phases[0].certificate = ChannelOrder(made.fabric->port_count(), 7);
     },
     "where the certificate falls from 7 to 7"},
    {"ACertificateOfAnotherFabric",
     loop_of_two,
     [](const HandMade&, TransitionPlan& plan) { plan.phases[0].certificate = ChannelOrder(3, 0); },
     "phase 1: its certificate has 3 channels instead of "},
    {"NoCertificate",
     loop_of_two,
     [](const HandMade&, TransitionPlan& plan) { plan.phases[1].certificate.clear(); },
     "phase 2: it has no certificate"},
    {"LatePacketsDeniedAfterAll",
     circle_of_late_packets,
     [](const HandMade&, TransitionPlan& plan) { plan.in_flight = InFlight::Linger; },
     "phase 2: packets can go from S1:1 on to S2:2"},
    {"AnEntryLeftOut",
     moved_cut_node,
     [](const HandMade&, TransitionPlan& plan) { plan.phases[0].entries.pop_back(); },
     "after the last phase lid 2 leaves S4:0 by port 2 instead of 1"},
    {"AnEntryToAPortWithoutALink",
     [] {
       return HandMade{
           "S2/6 S1-S2 S2-S3 S3-S1 S3-H3", "S1>H3=S2 S2>H3=S3 S3>H3=H3", "S1>H3=S3 S2>H3=S1"};
     },
     [](const HandMade&, TransitionPlan& plan) { plan.phases[1].entries[0].egress = PortNum{5}; },
     "phase 2: its entry for lid 3 at S2 leads aside to port 5, which is no active link to a "
     "switch"},
    {"AnEntryToAPortThatThereIsNot",
     loop_of_two,
     [](const HandMade&, TransitionPlan& plan) { plan.phases[1].entries[0].egress = PortNum{77}; },
     "phase 2: its entry for lid 3 at S2 names port 77, which it has not"},
    {"AnEntryWithdrawnOnTheWay",
     loop_of_two,
     [](const HandMade&, TransitionPlan& plan) { plan.phases[1].entries[0].egress = kNoRoute; },
     "phase 2: its entry for lid 3 at S2 is withdrawn, but wanted"},
    {"AnEntryWithAnotherPort",
     moved_cut_node,
     [](const HandMade&, TransitionPlan& plan) { plan.phases[0].entries[0].egress = kNoRoute; },
     "after the last phase lid 4 leaves S2:0 by port 255 instead of 2"},
    {"AnEntryTwice",
     loop_of_two,
     [](const HandMade&, TransitionPlan& plan) {
       plan.phases[0].entries.push_back(plan.phases[0].entries[0]);
     },
     "phase 1: its entries are not sorted, or name one entry twice"},
    {"AnEntryBeyondTheTables",
     loop_of_two,
     [](const HandMade&, TransitionPlan& plan) { plan.phases[0].entries[0].lid = Lid{900}; },
     "phase 1: its entry for lid 900 at S1 is beyond the tables"},
    {"AnEntryForASwitchThatThereIsNot",
     loop_of_two,
     [](const HandMade&, TransitionPlan& plan) { plan.phases[0].entries[0].sw = SwitchIdx{12}; },
     "phase 1: it has an entry for a switch that there is not"},
    {"ATurnNotBlocked",
     moved_cut_node,
     [](const HandMade&, TransitionPlan& plan) {
       plan.phases[0].block.pop_back();
       plan.blocked = plan.phases[0].block;
     },
     "phase 1: packets to lid 2 can go from S4:2 on to S1:1, where the certificate falls from "},
    {"ATurnRestoredTooEarly",
     moved_cut_node,
     [](const HandMade&, TransitionPlan& plan) {
       plan.phases[0].restore = {plan.phases[0].block[1]};
       plan.blocked.pop_back();
     },
     "phase 1: packets to lid 2 can go from S4:2 on to S1:1, where the certificate falls from "},
    {"ATurnRestoredThatWasNotBlocked",
     moved_cut_node,
     [](const HandMade& made, TransitionPlan& plan) {
       plan.phases[0].restore = {made.turn("S1", "S2", "S3")};
     },
     "phase 1: it would restore S2:1>2, which is not blocked"},
    {"ATurnBlockedTwice",
     moved_cut_node,
     [](const HandMade&, TransitionPlan& plan) {
       plan.phases.push_back(plan.phases[0]);
       plan.phases[1].entries.clear();
     },
     "phase 2: it would block S1:1>2, which is blocked already"},
    {"ATurnThatIsNone",
     moved_cut_node,
     [](const HandMade&, TransitionPlan& plan) { plan.phases[0].block[0].out = PortNum{0}; },
     "phase 1: it would block 1 to 0 of a switch, which is no turn"},
    {"ABlockedTurnThatTheNewRoutesNeed",
     moved_cut_node,
     [](const HandMade& made, TransitionPlan& plan) {
       plan.phases[0].block.push_back(made.turn("S1", "S2", "S3"));
       plan.blocked = plan.phases[0].block;
     },
     "the wanted routes need S2:1>2, which remains blocked"},
    {"ABlockedTurnThatAHostNeeds",
     moved_cut_node,
     [](const HandMade& made, TransitionPlan& plan) {
       plan.phases[0].block.push_back(made.turn("H2", "S2", "S3"));
       plan.blocked = plan.phases[0].block;
     },
     "the wanted routes need S2:3>2, which remains blocked"},
    {"AWrongListOfWhatRemainsBlocked",
     moved_cut_node,
     [](const HandMade&, TransitionPlan& plan) { plan.blocked.clear(); },
     "it says that 0 turns remain blocked, but 2 do"},
    {"BlockingInACertifiedPlan",
     moved_cut_node,
     [](const HandMade&, TransitionPlan& plan) { plan.kind = TransitionKind::Certified; },
     "phase 1: it blocks turns, which a certified plan does not"},
    {"DeactivatingInACertifiedPlan",
     loop_of_two,
     [](const HandMade& made, TransitionPlan& plan) {
       plan.phases[0].deactivate = {port(*made.fabric, "S1:1")};
     },
     "phase 1: it deactivates ports, which a plan of its kind does not"},
    {"APortThatStaysDown",
     loop_of_two,
     [](const HandMade& made, TransitionPlan& plan) {
       plan.kind = TransitionKind::CutPorts;
       plan.phases[0].deactivate = {port(*made.fabric, "S1:1")};
     },
     "after the last phase S1:1 is not active"},
    {"APortActivatedThatIsActive",
     loop_of_two,
     [](const HandMade& made, TransitionPlan& plan) {
       plan.phases[0].activate = {port(*made.fabric, "S1:1")};
     },
     "phase 1: it would activate S1:1, which is active"},
    {"APortWithoutALink",
     loop_of_two,
     [](const HandMade& made, TransitionPlan& plan) {
       plan.phases[0].activate = {port(*made.fabric, "S1:0")};
     },
     "phase 1: it lists a port without a link"},
    {"EntriesBeforeTheirCableCarriesData",
     new_cable,
     [](const HandMade&, TransitionPlan& plan) {
       std::swap(plan.phases[0].entries, plan.phases[1].entries);
     },
     "phase 1: its entry for lid 2 at S1 leads to port 1, which is not active yet"},
    {"EntriesBeforeBothEndsOfTheirCableAreActive",
     [] { return with_armed(new_cable(), "S2", "S1"); },
     [](const HandMade&, TransitionPlan& plan) {
       std::swap(plan.phases[0].entries, plan.phases[1].entries);
     },
     "phase 1: its entry for lid 2 at S1 leads to port 1, which is not active yet"},
    {"ACableLeftInInitialize",
     new_cable,
     [](const HandMade&, TransitionPlan& plan) { plan.phases[0].activate.pop_back(); },
     "which is not active yet"},
    {"AHostLeftInInitialize",
     two_new_links,
     [](const HandMade&, TransitionPlan& plan) { plan.phases[1].activate.clear(); },
     "after the last phase S3:2 is not active"},
    {"AnUnknownEntryNotWritten",
     unknown_block,
     [](const HandMade&, TransitionPlan& plan) { plan.phases.back().entries.pop_back(); },
     "after the last phase lid 63 leaves S1:0 by a port that nobody knows instead of 255"},
    {"AnUnknownBlockTakenForKnown",
     unknown_block,
     [](const HandMade&, TransitionPlan& plan) {
       for (TransitionPhase& phase : plan.phases) phase.block.clear();
       plan.blocked.clear();
     },
     "phase 1: packets can go from "},
    {"ABringUpWhileDataFlows",
     loop_of_two,
     [](const HandMade&, TransitionPlan& plan) { plan.kind = TransitionKind::Initial; },
     "phase 1: data flows while a plan of kind initial changes tables"},
    {"NothingToDoWithPhases",
     loop_of_two,
     [](const HandMade&, TransitionPlan& plan) { plan.kind = TransitionKind::Nothing; },
     "a plan to do nothing has phases"},
    {"NothingToDoThoughMuchIs",
     loop_of_two,
     [](const HandMade&, TransitionPlan& plan) {
       plan.kind = TransitionKind::Nothing;
       plan.phases.clear();
     },
     "after the last phase lid 3 leaves S1:0 by port 1 instead of 2"},
};

INSTANTIATE_TEST_SUITE_P(Forgeries,
                         CheckTransition,
                         testing::ValuesIn(kForgeries),
                         [](const auto& row) { return row.param.name; });

struct Place {
  const char* from;
  const char* to;
  std::uint32_t number;
};

/// All entries at once, under an order of our own.
std::string rank_candidate(const HandMade& made, std::initializer_list<Place> order) {
  TransitionPlan plan = plan_transition(made.task(), {.first = Deactivation::None});
  plan.kind = TransitionKind::Certified;
  plan.phases[0].certificate = ChannelOrder(made.fabric->port_count(), 0);
  for (const Place& place : order)
    plan.phases[0].certificate[port_towards(*made.fabric, place.from, place.to)] = place.number;
  return check_transition(made.task(), plan).fault;
}

//   S1 --- S2 --- S4    H3 on S3. S1 went through S2 and goes straight, S2 went straight and goes
//     \    |     /      through S4: no mixture closes a cycle.
//      `-- S3 ---'
HandMade both_turn_away() {
  return {"S1-S2 S2-S3 S3-S1 S2-S4 S4-S3 S3-H3",
          "S1>H3=S2 S2>H3=S3 S4>H3=S3 S3>H3=H3",
          "S1>H3=S3 S2>H3=S4"};
}

TEST(Mixtures, AnOrderInWhichAllRisesIsAProof) {
  EXPECT_EQ(rank_candidate(both_turn_away(),
                           {{"S1", "S2", 1}, {"S2", "S3", 2}, {"S2", "S4", 2}, {"S4", "S3", 3}}),
            "");
}

TEST(Mixtures, BothEntriesMayStillBeOld) {
  EXPECT_THAT(rank_candidate(both_turn_away(),
                             {{"S1", "S2", 2}, {"S2", "S3", 1}, {"S2", "S4", 3}, {"S4", "S3", 4}}),
              HasSubstr("packets to lid 3 can go from S1:1 on to S2:2"));
}

TEST(Mixtures, BothEntriesMayBeNew) {
  EXPECT_THAT(rank_candidate(both_turn_away(),
                             {{"S1", "S2", 1}, {"S2", "S3", 2}, {"S2", "S4", 2}, {"S4", "S3", 1}}),
              HasSubstr("packets to lid 3 can go from S2:3 on to S4:2"));
}

TEST(Mixtures, AnOldEntryMaySendToANewOne) {
  EXPECT_THAT(rank_candidate(loop_of_two(),
                             {{"S2", "S1", 1}, {"S1", "S2", 2}, {"S1", "S3", 3}, {"S2", "S3", 3}}),
              HasSubstr("packets to lid 3 can go from S1:1 on to S2:1"));
}

TEST(Mixtures, ANewEntryMaySendToAnOldOne) {
  EXPECT_THAT(rank_candidate(loop_of_two(),
                             {{"S1", "S2", 1}, {"S2", "S1", 2}, {"S1", "S3", 3}, {"S2", "S3", 2}}),
              HasSubstr("packets to lid 3 can go from S2:1 on to S1:1"));
}

// S1, S2 and S3 are joined to each other, and S4 to S1 and S2; H3 on S3. S1 goes through S2 before
// and straight afterwards; S2 straight before, and through S4 and S1 afterwards: S1 has to change
// first.
HandMade half_active_loop(bool first_is_armed) {
  HandMade made{"S1-S2 S2-S4 S4-S1 S1-S3 S2-S3 S3-H3",
                "S1>H3=S2 S2>H3=S3 S4>H3=S1 S3>H3=H3",
                "S1>H3=S3 S2>H3=S4"};
  return first_is_armed ? with_armed(made, "S1", "S2") : with_armed(made, "S2", "S1");
}

TEST(HalfActiveLinks, CarryData) {
  for (const bool first_is_armed : {true, false}) {
    const HandMade made = half_active_loop(first_is_armed);
    EXPECT_THAT(
        rank_candidate(
            made,
            {{"S1", "S2", 1}, {"S2", "S3", 2}, {"S2", "S4", 2}, {"S4", "S1", 3}, {"S1", "S3", 4}}),
        HasSubstr("packets to lid 3 can go from S4:2 on to S1:1"));
    const TransitionPlan plan = plan_transition(made.task(), {});
    EXPECT_EQ(check_transition(made.task(), plan).fault, "");
    EXPECT_EQ(plan.kind, TransitionKind::Certified);
    EXPECT_EQ(plan.phases.size(), 2u);
  }
}

TEST(HalfActiveLinks, AreNoBringUp) {
  const HandMade made = with_armed({"S1~S2 S1~H1 S2~H2", "", "S1>H2=S2 S2>H2=H2"}, "S1", "S2");
  EXPECT_NE(plan_transition(made.task(), {}).kind, TransitionKind::Initial);
  TransitionPlan plan = plan_transition(made.task(), {.first = Deactivation::None});
  plan.kind = TransitionKind::Initial;
  EXPECT_THAT(check_transition(made.task(), plan).fault, HasSubstr("data flows"));
}

TEST(CheckTransitionKinds, TheJudgeIsPreciseAboutASinglePhase) {
  const HandMade made = moved_cut_node();
  TransitionPlan plan = plan_transition(made.task(), {.max_phases = 2});
  plan.kind = TransitionKind::Certified;
  plan.phases[0].block.clear();
  plan.blocked.clear();
  const TransitionVerdict verdict = check_transition(made.task(), plan);
  EXPECT_THAT(verdict.fault,
              testing::MatchesRegex("phase 1: packets to lid [0-9] can go from S[0-9]:[0-9] on to "
                                    "S1:[0-9], where the certificate falls from [0-9]+ to [0-9]+"));
  EXPECT_EQ(verdict.phases_proved, 0u);
}

TEST(Detours, LeadFromSwitchToSwitch) {
  const HandMade made = moved_cut_node();
  const TransitionPlan plan = plan_transition(made.task(), {});
  ASSERT_EQ(plan.kind, TransitionKind::Certified);
  ASSERT_EQ(check_transition(made.task(), plan).fault, "");
  unsigned forged = 0;
  for (std::size_t i = 0; i < plan.phases.size(); ++i) {
    for (std::size_t e = 0; e < plan.phases[i].entries.size(); ++e) {
      const EntryChange& entry = plan.phases[i].entries[e];
      if (entry.egress == made.wanted.route(entry.sw, entry.lid)) continue;
      const auto with = [&](PortNum egress) {
        TransitionPlan other = plan;
        other.phases[i].entries[e].egress = egress;
        return check_transition(made.task(), other).fault;
      };
      const NodeIdx node = made.fabric->switch_node[entry.sw];
      for (const PortIdx host : made.fabric->external_ports(node)) {
        if (made.fabric->is_switch(made.fabric->node_of[made.fabric->peer[host]])) continue;
        EXPECT_THAT(with(made.fabric->number_of(host)), HasSubstr("no active link to a switch"));
        ++forged;
      }
      EXPECT_THAT(with(PortNum{0}), HasSubstr("no active link to a switch"));
      EXPECT_THAT(with(kNoRoute), HasSubstr("is withdrawn, but wanted"));
    }
  }
  EXPECT_GT(forged, 0u);
}

TEST(CheckTransitionKinds, PhasesWithoutACertificateAreNotProved) {
  const HandMade made = moved_cut_node();
  const TransitionPlan plan = plan_transition(made.task(), {.first = Deactivation::None});
  const TransitionVerdict verdict = check_transition(made.task(), plan);
  EXPECT_EQ(verdict.fault, "");
  EXPECT_EQ(verdict.phases_proved, 0u);
}

}  // namespace
}  // namespace smd::test

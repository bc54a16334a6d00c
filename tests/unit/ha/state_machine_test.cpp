// Every transition, and that there are no others; who yields to whom; what strangers may order.
#include "smd/ha/state_machine.h"

#include <gtest/gtest.h>

#include <set>

namespace smd {
namespace {

using S = SmState;
using E = SmEvent;
using A = SmAction;

struct Transition {
  const char* name;
  S from;
  E event;
  S to;
  A action;
};

// Written from IBA 14.4.1, not from the table under test.
constexpr Transition kTransitions[] = {
    {"DiscoveringAloneRules", S::Discovering, E::NobodyAbove, S::Master, A::TakeOver},
    {"DiscoveringYieldsToHigher", S::Discovering, E::HigherFound, S::Standby, A::Poll},
    {"DiscoveringYieldsToMaster", S::Discovering, E::HigherMasterFound, S::Standby, A::Poll},
    {"DiscoveringYieldsToLowerMaster", S::Discovering, E::LowerMasterFound, S::Standby, A::Poll},
    {"StandbyLooksWhenMasterIsLost", S::Standby, E::MasterLost, S::Discovering, A::Discover},
    {"StandbyLooksWhenTold", S::Standby, E::Discover, S::Discovering, A::Discover},
    {"StandbyTakesHandover", S::Standby, E::Handover, S::Master, A::AcknowledgeAndTake},
    {"StandbyIsDisabled", S::Standby, E::Disable, S::NotActive, A::StopPolling},
    {"StandbyIgnoresAcknowledge", S::Standby, E::Acknowledge, S::Standby, A::None},
    {"NotActiveIsWoken", S::NotActive, E::Standby, S::Standby, A::Poll},
    {"MasterStays", S::Master, E::NobodyAbove, S::Master, A::None},
    {"MasterHandsOverToHigherStandby", S::Master, E::HigherFound, S::Master, A::SendHandover},
    {"MasterHandsOverToHigherMaster", S::Master, E::HigherMasterFound, S::Master, A::SendHandover},
    {"MasterAwaitsLowerMaster", S::Master, E::LowerMasterFound, S::Master, A::AwaitHandover},
    {"MasterTakesHandover", S::Master, E::Handover, S::Master, A::AcknowledgeAndTake},
    {"MasterYieldsOnAcknowledge", S::Master, E::Acknowledge, S::Standby, A::Poll},
    {"MasterGoesOnUnanswered", S::Master, E::Unanswered, S::Master, A::Resume},
    {"MasterHandsOverWhenOverdue", S::Master, E::Overdue, S::Master, A::SendHandover},
    {"MasterLooksAfterAPause", S::Master, E::Stalled, S::Discovering, A::Discover},
    {"WhoSeesNobodyGoesOnLooking", S::Discovering, E::CutOff, S::Discovering, A::LookOn},
    {"MasterThatSeesNobodyLooks", S::Master, E::CutOff, S::Discovering, A::LookOn},
};

class Transitions : public testing::TestWithParam<Transition> {};

TEST_P(Transitions, Holds) {
  const Transition& row = GetParam();
  EXPECT_EQ(find_step(row.from, row.event), (SmStep{row.to, row.action}));
}

INSTANTIATE_TEST_SUITE_P(Rows, Transitions, testing::ValuesIn(kTransitions), [](const auto& row) {
  return std::string(row.param.name);
});

TEST(StateMachine, HasNoOtherTransition) {
  std::set<std::pair<S, E>> allowed;
  for (const Transition& row : kTransitions) allowed.insert({row.from, row.event});
  EXPECT_EQ(sm_transitions().size(), allowed.size());
  for (int s = 0; s <= 3; ++s) {
    for (int e = 0; e <= static_cast<int>(E::CutOff); ++e) {
      const auto state = static_cast<S>(s);
      const auto event = static_cast<E>(e);
      EXPECT_EQ(find_step(state, event).has_value(), allowed.contains({state, event}))
          << print_sm_state(state) << ": " << print_sm_event(event);
    }
  }
}

SmInfo manager(std::uint64_t guid, unsigned priority, S state) {
  return {.guid = Guid{guid},
          .priority = static_cast<std::uint8_t>(priority),
          .sm_state = static_cast<std::uint8_t>(state)};
}

TEST(Rank, PriorityGoesBeforeTheLowerGuid) {
  EXPECT_TRUE(outranks(manager(9, 5, S::Standby), manager(1, 4, S::Master)));
  EXPECT_TRUE(outranks(manager(1, 4, S::Standby), manager(9, 4, S::Master)));
  EXPECT_FALSE(outranks(manager(9, 4, S::Standby), manager(1, 4, S::Master)));
  EXPECT_FALSE(outranks(manager(1, 4, S::Standby), manager(1, 4, S::Standby)));
}

TEST(Judgement, OfOneThatDiscovers) {
  const SmInfo own = manager(5, 5, S::Discovering);
  const auto assess = [&](std::vector<SmInfo> others) { return assess_others(own, others); };
  EXPECT_EQ(assess({}), (SmAssessment{E::NobodyAbove, std::nullopt}));
  EXPECT_EQ(assess({manager(1, 4, S::Standby), manager(2, 9, S::NotActive)}),
            (SmAssessment{E::NobodyAbove, std::nullopt}));
  EXPECT_EQ(assess({manager(1, 4, S::Standby), manager(2, 5, S::Discovering)}),
            (SmAssessment{E::HigherFound, 1}));
  EXPECT_EQ(assess({manager(1, 6, S::Standby), manager(2, 9, S::Standby)}),
            (SmAssessment{E::HigherFound, 1}))
      << "the highest of them";
  EXPECT_EQ(assess({manager(1, 9, S::Standby), manager(2, 0, S::Master)}),
            (SmAssessment{E::LowerMasterFound, 1}))
      << "who rules goes on until it hands over";
  EXPECT_EQ(assess({manager(1, 9, S::Master)}), (SmAssessment{E::HigherMasterFound, 0}));
}

TEST(Judgement, OfAMaster) {
  const SmInfo own = manager(5, 5, S::Master);
  const auto assess = [&](std::vector<SmInfo> others) { return assess_others(own, others); };
  EXPECT_EQ(assess({manager(1, 4, S::Standby), manager(2, 9, S::NotActive)}),
            (SmAssessment{E::NobodyAbove, std::nullopt}));
  EXPECT_EQ(assess({manager(2, 9, S::Discovering)}), (SmAssessment{E::NobodyAbove, std::nullopt}))
      << "it will be standby before it may be handed anything";
  EXPECT_EQ(assess({manager(1, 9, S::Standby)}), (SmAssessment{E::HigherFound, 0}));
  EXPECT_EQ(assess({manager(1, 9, S::Standby), manager(2, 8, S::Master)}),
            (SmAssessment{E::HigherMasterFound, 1}))
      << "two that rule come first";
  EXPECT_EQ(assess({manager(1, 4, S::Master)}), (SmAssessment{E::LowerMasterFound, 0}));
  EXPECT_EQ(assess({manager(1, 4, S::Master), manager(2, 9, S::Standby)}),
            (SmAssessment{E::HigherFound, 1}));
}

TEST(Standby, StaysWhileItsMasterRulesOrIsAboutTo) {
  const SmInfo own = manager(5, 5, S::Standby);
  EXPECT_TRUE(keeps_in_standby(own, manager(1, 0, S::Master)));
  EXPECT_TRUE(keeps_in_standby(own, manager(1, 9, S::Discovering)));
  EXPECT_FALSE(keeps_in_standby(own, manager(1, 0, S::Discovering)));
  EXPECT_FALSE(keeps_in_standby(own, manager(1, 9, S::Standby))) << "else nobody rules";
  EXPECT_FALSE(keeps_in_standby(own, manager(1, 9, S::NotActive)));
}

SmInfo with_key(SmInfo info, std::uint64_t key) {
  info.sm_key = SmKey{key};
  return info;
}

Smp request(Method method, SmControl order, SmInfo from) {
  Smp smp;
  smp.method = method;
  smp.attribute_id = static_cast<std::uint16_t>(AttributeId::SmInfo);
  if (method == Method::Set) smp.attribute_modifier = static_cast<std::uint32_t>(order);
  encode_sm_info(from, smp.data);
  return smp;
}

TEST(SmRequests, ShowTheKeyToAMasterThatKnowsItAlone) {
  const SmInfo own = with_key(manager(5, 5, S::Standby), 77);
  const auto shown = [&](const SmInfo& from) {
    return answer_sm_request(own, request(Method::Get, {}, from)).info.sm_key;
  };
  EXPECT_EQ(shown(with_key(manager(1, 9, S::Master), 77)), SmKey{77});
  EXPECT_EQ(shown(with_key(manager(1, 9, S::Master), 78)), SmKey{});
  EXPECT_EQ(shown(with_key(manager(1, 9, S::Standby), 77)), SmKey{});
  EXPECT_EQ(shown(SmInfo{}), SmKey{});
}

TEST(SmRequests, DescribeThisManagerWhoeverAsks) {
  const SmInfo own = manager(5, 5, S::Standby);
  const SmAnswer answer = answer_sm_request(own, request(Method::Get, {}, SmInfo{}));
  EXPECT_EQ(answer.status, MadStatus::Ok);
  EXPECT_EQ(answer.info, with_key(own, 1)) << "the key that OpenSM looks for";
  EXPECT_EQ(answer.event, std::nullopt);
}

TEST(SmRequests, OrdersComeFromMasters) {
  const SmInfo own = manager(5, 5, S::Standby);
  for (const auto& [order, event] : {std::pair{SmControl::Handover, E::Handover},
                                     {SmControl::Disable, E::Disable},
                                     {SmControl::Discover, E::Discover}}) {
    EXPECT_EQ(answer_sm_request(own, request(Method::Set, order, manager(1, 0, S::Master))).event,
              event);
    const SmAnswer refused =
        answer_sm_request(own, request(Method::Set, order, manager(1, 0, S::Standby)));
    EXPECT_EQ(refused.event, std::nullopt);
    EXPECT_EQ(refused.status, MadStatus::BadField);
  }
}

TEST(SmRequests, OrdersThatMeanNothingHereAreRefused) {
  const SmInfo master = manager(1, 0, S::Master);
  const auto status = [&](S own, std::uint32_t order) {
    Smp smp = request(Method::Set, SmControl::Handover, master);
    smp.attribute_modifier = order;
    return answer_sm_request(manager(5, 5, own), smp).status;
  };
  EXPECT_EQ(status(S::Standby, 4), MadStatus::BadField);
  EXPECT_EQ(status(S::NotActive, 4), MadStatus::Ok);
  EXPECT_EQ(status(S::Master, 3), MadStatus::BadField) << "a master is not disabled";
  EXPECT_EQ(status(S::Discovering, 1), MadStatus::BadField);
  EXPECT_EQ(status(S::Standby, 0), MadStatus::BadField);
  EXPECT_EQ(status(S::Standby, 6), MadStatus::BadField);
}

TEST(SmRequests, OrdersNeedTheKeyWhereThereIsOne) {
  const SmInfo own = with_key(manager(5, 5, S::Standby), 77);
  const auto status = [&](std::uint64_t key) {
    return answer_sm_request(
               own,
               request(Method::Set, SmControl::Handover, with_key(manager(1, 0, S::Master), key)))
        .status;
  };
  EXPECT_EQ(status(77), MadStatus::Ok);
  EXPECT_EQ(status(78), MadStatus::BadField);
  EXPECT_EQ(status(0), MadStatus::BadField);
}

TEST(SmRequests, AnAcknowledgeComesFromAStandby) {
  const SmInfo own = manager(5, 5, S::Master);
  const auto event = [&](S from) {
    return answer_sm_request(own, request(Method::Set, SmControl::Acknowledge, manager(1, 9, from)))
        .event;
  };
  EXPECT_EQ(event(S::Standby), E::Acknowledge);
  EXPECT_EQ(event(S::Master), E::Acknowledge);
  EXPECT_EQ(event(S::Discovering), std::nullopt);
  EXPECT_EQ(event(S::NotActive), std::nullopt);
}

}  // namespace
}  // namespace smd

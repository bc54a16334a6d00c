// Plans for people.
#include "smd/report/dump.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/fabric_text.h"

namespace smd {
namespace {

using testing::HasSubstr;
using testing::Not;

EntryChange entry(unsigned lid, PortNum egress) {
  return {SwitchIdx{0}, Lid{static_cast<std::uint16_t>(lid)}, egress};
}

TEST(PlanText, NamesKindPhasesAndWhatEachDoes) {
  const Fabric fabric = test::fabric_from("S1-S2 H1-S1 H2-S2");
  const std::string name = fabric.description[fabric.switch_node[SwitchIdx{0}]];
  TransitionPlan plan{.kind = TransitionKind::CutDependencies, .why = "no order was found"};
  plan.phases.resize(2);
  plan.phases[0].block = {Turn{SwitchIdx{0}, PortNum{1}, PortNum{2}}};
  plan.phases[0].entries = {entry(3, PortNum{2}), entry(4, kNoRoute)};
  plan.phases[0].certificate = ChannelOrder(fabric.port_count());
  plan.phases[1].to_wanted = true;
  EXPECT_EQ(print_transition(fabric, plan),
            "plan: cut-dependencies, 2 phases, no order was found\n"
            "phase 1: proved\n"
            "  turns blocked: 1\n    " +
                print_turn(fabric, plan.phases[0].block[0]) +
                "\n"
                "  entries: 2\n    " +
                name + " lid 3 -> port 2\n    " + name +
                " lid 4 withdrawn\n"
                "phase 2: not proved\n"
                "  entries: all, in any order\n");
}

TEST(PlanText, OfALongListTheFirstTwentyAreShown) {
  const Fabric fabric = test::fabric_from("S1-S2 H1-S1 H2-S2");
  TransitionPlan plan{.kind = TransitionKind::Certified};
  plan.phases.resize(1);
  for (unsigned lid = 1; lid <= 23; ++lid) plan.phases[0].entries.push_back(entry(lid, PortNum{1}));
  const std::string text = print_transition(fabric, plan);
  EXPECT_THAT(text, HasSubstr("entries: 23\n"));
  EXPECT_THAT(text, HasSubstr("lid 20 -> port 1\n    … 3 more\n"));
  EXPECT_THAT(text, Not(HasSubstr("lid 21 ")));
}

}  // namespace
}  // namespace smd

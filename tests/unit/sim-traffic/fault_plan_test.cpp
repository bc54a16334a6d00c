// Faults of a scenario: what is read, what is refused and where.
#include <gmock/gmock.h>

#include "sim-backend/scenario/fault_plan.h"
#include "sim-backend/scenario/run.h"
#include "tests/support/scenario_text.h"

namespace smd::sim::test {
namespace fault_plan_test {

using testing::HasSubstr;

/// A scenario with these faults, from line 3 on.
Parsed<PreparedScenario> prepare(const std::string& faults) {
  return prepare_text("[fabric]\nname = \"fat-tree:k=4,levels=2\"\n" + faults);
}

void expect_fault(const std::string& faults, int line, const char* part) {
  const auto made = prepare(faults);
  ASSERT_FALSE(made.has_value()) << faults;
  EXPECT_EQ(made.error().at(0).line, line) << faults;
  EXPECT_THAT(print_fault(made.error().at(0)), HasSubstr(part)) << faults;
}

std::string fault_table(const char* at, const char* what, const char* where) {
  return std::string("[[fault]]\nat_us = ") + at + "\nwhat = \"" + what + "\"\nwhere = \"" + where +
         "\"\n";
}

TEST(FaultPlan, FollowsTheFile) {
  const auto made = prepare(fault_table("100", "link-down", "sw-0-0:3") +
                            fault_table("100", "switch-up", "sw-1-1") +
                            fault_table("200.5", "link-up", "sw-0-0:3"));
  ASSERT_TRUE(made.has_value()) << print_fault(made.error().at(0));
  const FaultPlan& plan = made->faults();
  ASSERT_EQ(plan.faults.size(), 3u);
  EXPECT_EQ(plan.faults[0].text, "link-down sw-0-0:3");
  EXPECT_TRUE(plan.faults[0].place.is_link());
  EXPECT_FALSE(plan.faults[0].up);
  EXPECT_EQ(plan.faults[2].at, 200 * kMicro + 500 * kNano);
  ASSERT_EQ(plan.absent.size(), 1u) << "what comes up first is not there at the beginning";
  EXPECT_EQ(made->spec().nodes[plan.absent[0].node].description, "sw-1-1");
}

TEST(FaultPlan, BothEndsAreOneLink) {
  const auto made = prepare(fault_table("100", "link-down", "sw-0-0:3"));
  ASSERT_TRUE(made.has_value());
  const PortSpec& cable = made->spec().nodes[made->faults().faults[0].place.node].ports[3];
  const std::string other = made->spec().nodes[cable.peer_node].description + ":" +
                            std::to_string(unsigned{cable.peer_port.value()});
  expect_fault(
      fault_table("100", "link-down", "sw-0-0:3") + fault_table("150", "link-down", other.c_str()),
      7,
      "is down already");
  EXPECT_TRUE(prepare(fault_table("100", "link-down", "sw-0-0:3") +
                      fault_table("150", "link-up", other.c_str()))
                  .has_value());
}

TEST(FaultPlan, RefusesWhatDoesNotExistAndWhatGoesBack) {
  expect_fault(fault_table("100", "switch-down", "sw-0-9"), 3, "the nearest name is sw-0-");
  expect_fault(fault_table("100", "link-down", "sw-0-0"), 3, "write NODE:PORT");
  expect_fault(fault_table("100", "link-down", "sw-0-0:9"), 3, "has ports 1 to 4, not 9");
  expect_fault(fault_table("100", "link-down", "sw-0-0:3x"), 3, "not 3x");
  expect_fault(fault_table("100", "host-down", "sw-0-0"), 3, "is a switch");
  expect_fault(fault_table("100", "switch-down", "host-00001"), 3, "is a host");
  expect_fault(fault_table("100", "host-down", "host-00000"), 3, "where the manager sits");
  expect_fault(fault_table("19", "switch-down", "sw-1-1"), 3, "before the warm-up is over");
  expect_fault(
      fault_table("100", "switch-down", "sw-1-1") + fault_table("99", "switch-up", "sw-1-1"),
      7,
      "goes back: the one before it is at 100 us");
  expect_fault(
      fault_table("100", "switch-down", "sw-1-1") + fault_table("101", "switch-down", "sw-1-1"),
      7,
      "is down already at 101 us");
}

TEST(FaultPlan, RefusesTablesThatAreNone) {
  expect_fault("[fault]\nat_us = 1\n", 3, "write [[fault]]");
  expect_fault("[[fault]]\nat_us = 100\nwhat = \"fire\"\nwhere = \"sw-0-0\"\n",
               5,
               "link-down, link-up, switch-down");
  expect_fault("[[fault]]\nat_us = -1\nwhat = \"link-down\"\nwhere = \"sw-0-0:1\"\n",
               4,
               "fault.at_us must be 0 to 1e9");
  expect_fault("[[fault]]\nat_us = 100\nwhat = \"link-down\"\n", 3, "a fault needs where");
  expect_fault(
      fault_table("100", "switch-down", "sw-1-1") + "when = 3\n", 7, "unknown key fault.when");
  expect_fault("[manager]\nmode = \"basic\"\n", 4, "where there is a [[fault]]");
  expect_fault("[manager]\nmode = \"best\"\n", 4, "certified, basic, improved");
  expect_fault("[measure]\nsaturation = true\n" + fault_table("100", "switch-down", "sw-1-1"),
               4,
               "without faults");
}

}  // namespace fault_plan_test
}  // namespace smd::sim::test

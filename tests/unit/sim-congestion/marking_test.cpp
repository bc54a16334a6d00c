// Each marking rule by itself, packet by packet.
#include "sim-backend/congestion/marking.h"

#include <gtest/gtest.h>

#include <map>

namespace smd::sim {
namespace {

/// What the buffers of a switch hold, written down.
struct Still final : SwitchQueues {
  void list_wanted(std::uint32_t input, std::vector<std::uint32_t>& out) const override {
    const auto found = wanted.find(input);
    if (found != wanted.end()) out.insert(out.end(), found->second.begin(), found->second.end());
  }

  [[nodiscard]] unsigned count_bound(std::uint32_t output) const override {
    unsigned count = 0;
    for (const auto& [input, outs] : wanted) {
      for (const std::uint32_t out : outs) count += out == output;
    }
    return count;
  }

  std::map<std::uint32_t, std::vector<std::uint32_t>> wanted;
};

/// Buffers of four packets of four blocks each.
MarkPoint at(unsigned packets, std::uint32_t lane = 1, std::uint32_t out = 2) {
  return {.port_vl = lane, .out = out, .used = 4 * packets, .capacity = 16, .blocks = 4};
}

Marks pass(Marking& rule, unsigned packets_in, unsigned packets_out, Marks marks = 0) {
  rule.on_input(at(packets_in), Still{}, marks);
  rule.on_output(at(packets_out), marks);
  rule.on_departure(at(packets_out), marks);
  return marks;
}

TEST(Marking, InputMarksTheThirdPacketOfFour) {
  const auto rule = mark_by_input({.input = 66});
  EXPECT_EQ(pass(*rule, 2, 4), 0);
  EXPECT_EQ(pass(*rule, 3, 1), kFirstMark);
  EXPECT_EQ(pass(*rule, 4, 1), kFirstMark);
}

TEST(Marking, OutputMarksTheFourthPacketAtNinetyPercent) {
  const auto rule = mark_by_output({.output = 90});
  EXPECT_EQ(pass(*rule, 4, 3), 0);
  EXPECT_EQ(pass(*rule, 1, 4), kFirstMark);
}

TEST(Marking, AThresholdIsPassedNotReached) {
  EXPECT_FALSE(is_above(8, 16, 50));
  EXPECT_TRUE(is_above(9, 16, 50));
}

// Flows at the root: w clean, x congested output, y both, z congested input.
TEST(Marking, BothBuffersMarkByThemselves) {
  const auto rule = mark_by_both({});
  EXPECT_EQ(pass(*rule, 2, 1), 0);
  EXPECT_EQ(pass(*rule, 2, 2), kSecondMark);
  EXPECT_EQ(pass(*rule, 3, 2), kFirstMark | kSecondMark);
  EXPECT_EQ(pass(*rule, 3, 1), kFirstMark);
}

TEST(Marking, AnOutputValidatesOnlyWhatIsMarked) {
  const auto rule = mark_and_validate({});
  EXPECT_EQ(pass(*rule, 2, 1), 0);
  EXPECT_EQ(pass(*rule, 2, 4), 0);  // x stays unpunished
  EXPECT_EQ(pass(*rule, 3, 2), kFirstMark | kSecondMark);
  EXPECT_EQ(pass(*rule, 3, 1), kFirstMark);
}

TEST(Marking, ALaterSwitchMayValidate) {
  const auto rule = mark_and_validate({});
  const Marks first = pass(*rule, 3, 1);
  EXPECT_EQ(pass(*rule, 1, 2, first), kFirstMark | kSecondMark);
}

TEST(Marking, MarksStay) {
  for (const auto& rule : {mark_by_input({}), mark_by_output({}), mark_by_full_input()}) {
    EXPECT_EQ(pass(*rule, 1, 1, kFirstMark), kFirstMark);
  }
  EXPECT_EQ(pass(*mark_by_both({}), 1, 1, kSecondMark), kSecondMark);
}

TEST(Marking, AValidationWithoutAMarkCannotOccur) {
  const auto rule = mark_and_validate({});
  EXPECT_TRUE(rule->may_occur(0));
  EXPECT_TRUE(rule->may_occur(kFirstMark));
  EXPECT_TRUE(rule->may_occur(kFirstMark | kSecondMark));
  EXPECT_FALSE(rule->may_occur(kSecondMark));
  EXPECT_TRUE(mark_by_both({})->may_occur(kSecondMark));
  EXPECT_FALSE(mark_by_input({})->may_occur(kSecondMark));
}

// Input 1 is full: 5, 5, 6 and the one that comes, for 6. Input 3 holds one more for 5.
TEST(Marking, AFullInputMarksAllThatItsOutputsHold) {
  const auto rule = mark_by_full_input();
  Still queues;
  queues.wanted = {{1, {5, 5, 6}}, {3, {5, 7}}};
  Marks marks = 0;
  rule->on_input(at(4, 1, 6), queues, marks);
  EXPECT_EQ(marks, 0) << "marks are set on departure";
  const auto departs = [&](std::uint32_t out) {
    Marks left = 0;
    rule->on_departure(at(1, out, out), left);
    return left;
  };
  EXPECT_EQ(departs(7), 0) << "nobody in the full buffer wants it";
  for (int i = 0; i < 3; ++i) EXPECT_EQ(departs(5), kFirstMark) << i;
  EXPECT_EQ(departs(5), 0);
  EXPECT_EQ(departs(6), kFirstMark);
  EXPECT_EQ(departs(6), kFirstMark);
  EXPECT_EQ(departs(6), 0);
}

TEST(Marking, AnInputWithRoomIsNoTrigger) {
  const auto rule = mark_by_full_input();
  EXPECT_EQ(pass(*rule, 3, 4), 0);
  EXPECT_EQ(pass(*rule, 4, 1), kFirstMark);
}

TEST(Marking, AFullInputCopiesTheCountAgain) {
  const auto rule = mark_by_full_input();
  Still queues;
  queues.wanted = {{1, {5, 5, 5}}};
  Marks marks = 0;
  rule->on_input(at(4, 1, 5), queues, marks);
  rule->on_input(at(4, 1, 5), queues, marks);
  for (int i = 0; i < 4; ++i) {
    Marks left = 0;
    rule->on_departure(at(1, 5, 5), left);
    EXPECT_EQ(left, kFirstMark) << i;
  }
  Marks left = 0;
  rule->on_departure(at(1, 5, 5), left);
  EXPECT_EQ(left, 0);
}

}  // namespace
}  // namespace smd::sim

// BECN: index, table, timer.
#include "sim-backend/congestion/ib_reaction.h"

#include <gtest/gtest.h>

#include "smd/congestion/throttle.h"

namespace smd::sim {
namespace ib_reaction_test {

constexpr Picos kTick = 1'024'000;
constexpr Flow kFlow{.source = 0, .destination = 1, .sl = 3};
constexpr Feedback kBecn{.marks = kFirstMark};

/// Index i delays by i packet times; up by 2, down by 1 each two ticks, 1 at least, 5 at most.
IbCaRegisters registers() {
  IbCaRegisters out;
  for (int i = 0; i <= 5; ++i) out.table.push_back(cc::encode_delay(i));
  out.limit = 5;
  out.setting.entries[3] = {.timer = 2, .increase = 2, .trigger = 3, .min = 0};
  return out;
}

TEST(IbReaction, BecnRaisesTheIndexUpToTheLimit) {
  IbReaction rule(4);
  rule.set(0, registers());
  EXPECT_EQ(rule.index(kFlow, 0), 0u);
  for (const unsigned index : {2u, 4u, 5u, 5u}) {
    rule.on_feedback(kFlow, kBecn, 10);
    EXPECT_EQ(rule.index(kFlow, 10), index);
  }
  rule.on_feedback(kFlow, {.marks = 0, .acknowledges = true}, 10);
  EXPECT_EQ(rule.index(kFlow, 10), 5u);
  EXPECT_EQ(rule.becns(0), 4u);
  EXPECT_EQ(rule.triggered(0), 1u);
}

TEST(IbReaction, TheTimerLowersItDownToTheLeast) {
  IbReaction rule(4);
  IbCaRegisters set = registers();
  set.setting.entries[3].min = 1;
  rule.set(0, set);
  EXPECT_EQ(rule.index(kFlow, 0), 1u);
  rule.on_feedback(kFlow, kBecn, 0);
  rule.on_feedback(kFlow, kBecn, 0);
  EXPECT_EQ(rule.index(kFlow, 2 * kTick - 1), 5u);
  EXPECT_EQ(rule.index(kFlow, 2 * kTick), 4u);
  EXPECT_EQ(rule.index(kFlow, 6 * kTick), 2u);
  EXPECT_EQ(rule.index(kFlow, 100 * kTick), 1u);
}

TEST(IbReaction, WithoutATimerItStays) {
  IbReaction rule(4);
  IbCaRegisters set = registers();
  set.setting.entries[3].timer = 0;
  rule.set(0, set);
  rule.on_feedback(kFlow, kBecn, 0);
  EXPECT_EQ(rule.index(kFlow, kSecond), 2u);
}

// A packet of 1,000 ps at index 2: the next one begins 2,000 ps after its end.
TEST(IbReaction, TheTableDelaysTheNextPacket) {
  IbReaction rule(4);
  rule.set(0, registers());
  rule.on_injected(kFlow, 100, 1100);
  EXPECT_EQ(rule.allowed_at(kFlow, 1100), 1100);
  rule.on_feedback(kFlow, kBecn, 1200);
  EXPECT_EQ(rule.allowed_at(kFlow, 1200), 1100) << "from the next packet on";
  rule.on_injected(kFlow, 2000, 3000);
  EXPECT_EQ(rule.allowed_at(kFlow, 3000), 5000);
}

TEST(IbReaction, FractionsOfAPacketTime) {
  IbReaction rule(4);
  IbCaRegisters set = registers();
  set.table[2] = {.shift = 2, .multiplier = 5};  // 1.25
  rule.set(0, set);
  rule.on_feedback(kFlow, kBecn, 0);
  rule.on_injected(kFlow, 0, 1000);
  EXPECT_EQ(rule.allowed_at(kFlow, 0), 2250);
}

TEST(IbReaction, PerQpOnlyTheFlowIsSlowed) {
  IbReaction rule(4);
  rule.set(0, registers());
  rule.on_feedback(kFlow, kBecn, 0);
  EXPECT_EQ(rule.index({0, 1, 3}, 0), 2u);
  EXPECT_EQ(rule.index({0, 2, 3}, 0), 0u);
  EXPECT_EQ(rule.index({1, 1, 3}, 0), 0u);
}

TEST(IbReaction, PerSlAllThatThePortSendsThereIs) {
  IbReaction rule(4);
  IbCaRegisters set = registers();
  set.setting.port_control = 1;
  rule.set(0, set);
  rule.on_feedback(kFlow, kBecn, 0);
  EXPECT_EQ(rule.index({0, 2, 3}, 0), 2u);
  EXPECT_EQ(rule.index({0, 1, 4}, 0), 0u);
  rule.on_injected(kFlow, 0, 1000);
  EXPECT_EQ(rule.allowed_at({0, 2, 3}, 0), 3000);
}

TEST(IbReaction, ASmallerLimitCounts) {
  IbReaction rule(4);
  rule.set(0, registers());
  for (int i = 0; i < 3; ++i) rule.on_feedback(kFlow, kBecn, 0);
  IbCaRegisters less = registers();
  less.limit = 1;
  rule.set(0, less);
  EXPECT_EQ(rule.index(kFlow, 0), 1u);
}

TEST(IbReaction, PowerOnDelaysNothing) {
  IbReaction rule(4);
  rule.on_feedback(kFlow, kBecn, 0);
  rule.on_injected(kFlow, 0, 1000);
  EXPECT_EQ(rule.allowed_at(kFlow, 0), 1000);
}

}  // namespace ib_reaction_test
}  // namespace smd::sim

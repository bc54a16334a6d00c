// Bits to actions: Tables 6.1 to 6.4 and 8.3.
#include "sim-backend/congestion/window_reaction.h"

#include <gtest/gtest.h>

namespace smd::sim {
namespace window_reaction_test {

constexpr Picos kTrip = 354;
constexpr Picos kPacket = 278;
constexpr Flow kFlow{.source = 0, .destination = 1, .sl = 0};
constexpr Marks kClean = 0, kWarm = kFirstMark, kLate = kSecondMark,
                kHot = kFirstMark | kSecondMark;

WindowReaction make(bool two_bits,
                    WindowRule window = {.kind = WindowKind::Dynamic, .most = 2},
                    bool slots = true,
                    Recovery recovery = Recovery::Progressive) {
  return {4,
          {.window = window,
           .pace = slots ? pace_by_slots({.radix = 4, .stages = 5, .round_trip = kTrip}) : nullptr,
           .recovery = recovery,
           .two_bits = two_bits}};
}

/// One packet there at `at` and its acknowledgement back.
void turn(WindowReaction& rule, Marks marks, Picos at = 0, const Flow& flow = kFlow) {
  rule.on_injected(flow, at, at + kPacket);
  rule.on_feedback(flow, {.marks = marks, .acknowledges = true}, at + kTrip);
}

/// Window, then slots.
std::pair<unsigned, unsigned> now(WindowReaction& rule) {
  const auto view = rule.view(kFlow);
  const auto marks = static_cast<unsigned>(view.pace);
  return {view.window, static_cast<unsigned>(cc::waiting_slots(marks, 4, 5))};
}

using State = std::pair<unsigned, unsigned>;

TEST(WindowReaction, HotNarrowsThenWaits) {
  WindowReaction rule = make(true);
  EXPECT_EQ(now(rule), State(2, 0));
  for (const State& state : {State(1, 0), State(1, 1), State(1, 4), State(1, 16)}) {
    turn(rule, kHot);
    EXPECT_EQ(now(rule), state);
  }
}

TEST(WindowReaction, WarmOnlyNarrows) {
  for (const Marks warm : {kWarm, kLate}) {
    WindowReaction rule = make(true);
    turn(rule, warm);
    EXPECT_EQ(now(rule), State(1, 0));
    turn(rule, warm);
    EXPECT_EQ(now(rule), State(1, 0)) << "at 1 nothing more happens";
    turn(rule, kHot);
    turn(rule, warm);
    EXPECT_EQ(now(rule), State(1, 1)) << "slots stay";
  }
}

// Full recovery takes as many clean acknowledgements as the window has packets.
TEST(WindowReaction, CleanTakesTheSlotsThenWidens) {
  WindowReaction rule = make(true, {.kind = WindowKind::Dynamic, .most = 3});
  for (int i = 0; i < 6; ++i) turn(rule, kHot);
  EXPECT_EQ(now(rule), State(1, 64));
  for (const State& state : {State(1, 0), State(2, 0), State(3, 0), State(3, 0)}) {
    turn(rule, kClean);
    EXPECT_EQ(now(rule), state);
  }
}

TEST(WindowReaction, OneBitIsSevere) {
  WindowReaction rule = make(false);
  turn(rule, kWarm);
  turn(rule, kWarm);
  EXPECT_EQ(now(rule), State(1, 1));
}

TEST(WindowReaction, SlotsBesideAStaticWindowOrNone) {
  WindowReaction fixed = make(false, {.kind = WindowKind::Static, .most = 1});
  turn(fixed, kWarm);
  EXPECT_EQ(now(fixed), State(1, 1));
  WindowReaction alone = make(true, {});
  turn(alone, kWarm);
  EXPECT_EQ(now(alone).second, 0u) << "moderate acts on windows alone";
  turn(alone, kHot);
  EXPECT_EQ(now(alone).second, 1u);
}

TEST(WindowReaction, AFullWindowWaitsForAnAcknowledgement) {
  WindowReaction rule = make(true);
  rule.on_injected(kFlow, 0, kPacket);
  EXPECT_LE(rule.allowed_at(kFlow, kPacket), kPacket);
  rule.on_injected(kFlow, kPacket, 2 * kPacket);
  EXPECT_EQ(rule.allowed_at(kFlow, 2 * kPacket), kNever);
  rule.on_feedback(kFlow, {.acknowledges = true}, 3 * kPacket);
  EXPECT_LE(rule.allowed_at(kFlow, 3 * kPacket), 3 * kPacket);
  EXPECT_EQ(rule.view(kFlow).outstanding, 1u);
  EXPECT_EQ(rule.most_outstanding(), 2u);
}

// A window narrowed below what is on the way recalls nothing.
TEST(WindowReaction, ANarrowWindowOnlyBlocks) {
  WindowReaction rule = make(true, {.kind = WindowKind::Dynamic, .most = 3});
  for (int i = 0; i < 3; ++i) rule.on_injected(kFlow, i * kPacket, (i + 1) * kPacket);
  rule.on_feedback(kFlow, {.marks = kWarm, .acknowledges = true}, 900);
  EXPECT_EQ(rule.view(kFlow).outstanding, 2u);
  EXPECT_EQ(rule.allowed_at(kFlow, 900), kNever);
  rule.on_feedback(kFlow, {.marks = kWarm, .acknowledges = true}, 1000);
  EXPECT_EQ(rule.allowed_at(kFlow, 1000), kNever) << "1 on the way, window 1";
  rule.on_feedback(kFlow, {.marks = kWarm, .acknowledges = true}, 1100);
  EXPECT_NE(rule.allowed_at(kFlow, 1100), kNever);
}

TEST(WindowReaction, SlotsCountFromTheLastInjectionAndGoAtOnce) {
  WindowReaction rule = make(true);
  turn(rule, kHot, 0);
  turn(rule, kHot, 1000);
  turn(rule, kHot, 2000);
  EXPECT_EQ(rule.allowed_at(kFlow, 3000), 2000 + 4 * kTrip);
  turn(rule, kClean, 5000);
  EXPECT_EQ(rule.allowed_at(kFlow, 6000), 5000 + kPacket);
}

TEST(WindowReaction, AnEmptyQueueForgetsAtOnceWhereRecoveryIsImmediate) {
  for (const Recovery recovery : {Recovery::Immediate, Recovery::Progressive}) {
    WindowReaction rule = make(true, {.kind = WindowKind::Dynamic, .most = 2}, true, recovery);
    rule.on_queued(kFlow);
    for (int i = 0; i < 3; ++i) turn(rule, kHot);
    rule.on_queued(kFlow);
    EXPECT_EQ(now(rule), State(1, 4)) << "others of the flow wait";
    rule.on_unqueued(kFlow);
    rule.on_unqueued(kFlow);
    rule.on_queued(kFlow);
    EXPECT_EQ(now(rule), recovery == Recovery::Immediate ? State(2, 0) : State(1, 4));
  }
}

TEST(WindowReaction, OtherFlowsAreNotPunished) {
  WindowReaction rule = make(true);
  for (int i = 0; i < 3; ++i) turn(rule, kHot);
  const auto view = rule.view({.source = 0, .destination = 2});
  EXPECT_EQ(view.window, 2u);
  EXPECT_EQ(view.pace, 0);
}

TEST(WindowReaction, AWindowMayBeTheHosts) {
  WindowReaction rule(4, {.window = {.kind = WindowKind::Static, .most = 1}, .scope = Scope::Host});
  rule.on_injected({.source = 0, .destination = 1}, 0, 1);
  EXPECT_EQ(rule.allowed_at({.source = 0, .destination = 2}, 1), kNever);
  EXPECT_NE(rule.allowed_at({.source = 1, .destination = 2}, 1), kNever);
}

TEST(WindowReaction, ALossOpensTheWindow) {
  WindowReaction rule = make(true, {.kind = WindowKind::Static, .most = 1});
  rule.on_injected(kFlow, 0, kPacket);
  rule.on_lost(kFlow);
  EXPECT_NE(rule.allowed_at(kFlow, 1000), kNever);
}

}  // namespace window_reaction_test
}  // namespace smd::sim

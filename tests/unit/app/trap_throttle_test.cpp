// A source has ten turns at once and then one every two seconds; nobody else is slowed down by it.
#include "smd/app/trap_throttle.h"

#include <gtest/gtest.h>

namespace smd::app {
namespace {

TimePoint at(int ms) { return TimePoint{std::chrono::milliseconds(ms)}; }

TEST(TrapThrottle, ABurstIsServedAtOnceAndThenHeldBack) {
  TrapThrottle throttle;
  for (unsigned i = 0; i < TrapThrottle::kBurst; ++i)
    EXPECT_EQ(throttle.take(Lid{7}, at(1000)), Duration{0}) << i;
  const Duration wait = throttle.take(Lid{7}, at(1000));
  EXPECT_EQ(wait, TrapThrottle::kRefill);
  EXPECT_EQ(throttle.take(Lid{7}, at(2999)), Duration(std::chrono::milliseconds(1)));
  EXPECT_EQ(throttle.take(Lid{7}, at(3000)), Duration{0});
  EXPECT_GT(throttle.take(Lid{7}, at(3000)), Duration{0});
}

TEST(TrapThrottle, ASlowSourceNeverWaits) {
  TrapThrottle throttle;
  for (int i = 0; i < 1000; ++i) EXPECT_EQ(throttle.take(Lid{7}, at(2000 * i)), Duration{0}) << i;
}

TEST(TrapThrottle, QuietTimeGivesTheBurstBack) {
  TrapThrottle throttle;
  for (unsigned i = 0; i < TrapThrottle::kBurst; ++i) (void)throttle.take(Lid{7}, at(0));
  EXPECT_GT(throttle.take(Lid{7}, at(0)), Duration{0});
  for (unsigned i = 0; i < TrapThrottle::kBurst; ++i)
    EXPECT_EQ(throttle.take(Lid{7}, at(20'000)), Duration{0}) << i;
}

TEST(TrapThrottle, SourcesDoNotShareTurns) {
  TrapThrottle throttle;
  for (int i = 0; i < 100; ++i) (void)throttle.take(Lid{7}, at(0));
  EXPECT_EQ(throttle.take(Lid{8}, at(0)), Duration{0});
}

}  // namespace
}  // namespace smd::app

// What only virtual time has: exact arrival times and a clock that the test drives.
#include "sim-backend/kernel/sim_runtime.h"

#include <gmock/gmock.h>

namespace smd::sim {
namespace {

using namespace std::chrono_literals;

TEST(SimRuntime, TheClockJumpsToEachDeadlineExactly) {
  SimRuntime runtime;
  const TimePoint start = runtime.now();
  EXPECT_GT(start, TimePoint{});
  TimePoint ran;
  runtime.call_at(start + 10h, [&] { ran = runtime.now(); });
  EXPECT_TRUE(runtime.run_one());
  EXPECT_EQ(ran, start + 10h);
  EXPECT_FALSE(runtime.run_one());
}

TEST(SimRuntime, RunUntilRunsWhatIsDueAndSetsTheClock) {
  SimRuntime runtime;
  const TimePoint start = runtime.now();
  int ran = 0;
  runtime.call_at(start + 2s, [&] { ++ran; });
  runtime.call_at(start + 3s, [&] { ++ran; });
  runtime.run_until(start + 2s);
  EXPECT_EQ(ran, 1);
  EXPECT_EQ(runtime.now(), start + 2s);
  runtime.run_until(start + 1s);  // the clock does not go back
  EXPECT_EQ(runtime.now(), start + 2s);
}

TEST(SimRuntime, RunWhileNotStopsAtTheConditionTheLimitOrTheEnd) {
  SimRuntime runtime;
  const TimePoint start = runtime.now();
  int ran = 0;
  for (int i = 1; i <= 5; ++i) runtime.call_at(start + i * 1s, [&] { ++ran; });
  EXPECT_TRUE(runtime.run_while_not([&] { return ran == 2; }, start + 1h));
  EXPECT_EQ(runtime.now(), start + 2s);
  EXPECT_FALSE(runtime.run_while_not([&] { return ran == 5; }, start + 4s));
  EXPECT_EQ(ran, 4);
  EXPECT_FALSE(runtime.run_while_not([] { return false; }, start + 1h));
  EXPECT_EQ(runtime.tasks_run(), 5u);
}

}  // namespace
}  // namespace smd::sim

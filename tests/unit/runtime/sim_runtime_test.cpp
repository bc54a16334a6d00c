// What only virtual time has: exact arrival times and a clock that the test drives.
#include "sim-backend/kernel/sim_runtime.h"

#include <gmock/gmock.h>

#include <atomic>
#include <future>
#include <thread>
#include <vector>

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

/// When three jobs, given at once, were done, from the start on.
std::vector<Duration> ends_of_three(std::uint64_t seed) {
  SimRuntime runtime;
  runtime.use_thread(10ms, seed);
  const TimePoint start = runtime.now();
  std::vector<Duration> ends;
  for (int i = 0; i < 3; ++i)
    runtime.offload([] {}, [&] { ends.push_back(runtime.now() - start); });
  runtime.run_until(start + 1s);
  return ends;
}

TEST(SimRuntime, JobsOnTheThreadTakeTheTimeThatTheSeedSays) {
  const std::vector<Duration> ends = ends_of_three(7);
  ASSERT_EQ(ends.size(), 3u);
  EXPECT_LE(ends[0], 10ms);
  EXPECT_LT(ends[0], ends[1]) << "one after the other";
  EXPECT_LE(ends[2], 30ms);
  EXPECT_EQ(ends_of_three(7), ends);
  EXPECT_NE(ends_of_three(8), ends);
}

TEST(SimRuntime, TheLoopGoesOnWhileTheThreadWorks) {
  SimRuntime runtime;
  runtime.use_thread(1h, 1);
  std::promise<void> asked;
  std::thread::id worker;
  bool done = false;
  runtime.offload(
      [&] {
        asked.get_future().wait();
        worker = std::this_thread::get_id();
      },
      [&] { done = true; });
  EXPECT_TRUE(runtime.computing());
  runtime.call_at(runtime.now() + 1s, [&] { asked.set_value(); });
  runtime.run_until(runtime.now() + 1s);
  EXPECT_FALSE(done);
  runtime.run_until(runtime.now() + 1h);
  EXPECT_TRUE(done);
  EXPECT_FALSE(runtime.computing());
  EXPECT_NE(worker, std::this_thread::get_id());
}

TEST(SimRuntime, GoesWhenItsThreadIsDone) {
  std::atomic<bool> worked = false;
  {
    SimRuntime runtime;
    runtime.use_thread(1h, 1);
    runtime.offload([&] { worked = true; }, [] { FAIL() << "nobody runs the loop any more"; });
    runtime.run_one();
  }
  EXPECT_TRUE(worked);
}

}  // namespace
}  // namespace smd::sim

// What only the real runtime has: threads, signals, sockets, exceptions.
#include "smd/runtime/asio_runtime.h"

#include <gmock/gmock.h>

#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <csignal>
#include <future>
#include <stdexcept>
#include <thread>
#include <vector>

namespace smd {
namespace {

using namespace std::chrono_literals;

TEST(AsioRuntime, PostsFromAnotherThreadRunOnTheLoopInOrder) {
  AsioRuntime runtime;
  const auto loop = std::this_thread::get_id();
  constexpr int kPosts = 10000;
  std::vector<int> seen;
  std::thread poster([&] {
    for (int i = 0; i < kPosts; ++i) {
      runtime.post([&, i] {
        EXPECT_EQ(std::this_thread::get_id(), loop);
        seen.push_back(i);
        if (i == kPosts - 1) runtime.stop();
      });
    }
  });
  runtime.run();
  poster.join();
  ASSERT_EQ(seen.size(), static_cast<std::size_t>(kPosts));
  EXPECT_TRUE(std::is_sorted(seen.begin(), seen.end()));
}

TEST(AsioRuntime, TheClockThatCountsSuspendsGoesOnAsTheOtherDoes) {
  AsioRuntime runtime;
  const TimePoint before = runtime.now(), with_suspends = runtime.now_with_suspends();
  std::this_thread::sleep_for(5ms);
  EXPECT_GE(runtime.now_with_suspends() - with_suspends, 5ms);
  EXPECT_GE(runtime.now() - before, 5ms);
}

TEST(AsioRuntime, PostsFromAnotherThreadBeforeTheLoopRunsAreKept) {
  AsioRuntime runtime;
  unsigned ran = 0;
  std::thread([&] {
    runtime.post([&] { ++ran; });
    runtime.post([&] { runtime.stop(); });
  }).join();
  EXPECT_EQ(ran, 0u);
  runtime.run();
  EXPECT_EQ(ran, 1u);
}

// Else a long task makes the timeouts of answers that have come run first.
TEST(AsioRuntime, WhatArrivedWhileATaskTookLongGoesBeforeTheTimersThatExpiredMeanwhile) {
  using Clock = std::chrono::steady_clock;
  AsioRuntime runtime;
  std::string trace;
  const auto before = Clock::now();
  runtime.post([&] {
    const auto began = Clock::now();
    std::thread([&] { runtime.post([&] { trace += "answer "; }); }).join();
    // now() is that of some moment since `before`: so long after it the answer is there for sure.
    const auto arrived = Clock::now() - before + 1ns;
    runtime.call_at(runtime.now() + arrived, [&] {
      trace += "timeout ";
      runtime.stop();
    });
    while (Clock::now() <= began + arrived) std::this_thread::yield();
  });
  runtime.run();
  EXPECT_EQ(trace, "answer timeout ");
}

TEST(AsioRuntime, StopEndsTheTurnButKeepsWhatIsPending) {
  AsioRuntime runtime;
  std::string trace;
  runtime.post([&] {
    trace += 'a';
    runtime.stop();
  });
  runtime.post([&] {
    trace += 'b';
    runtime.stop();
  });
  runtime.run();
  EXPECT_EQ(trace, "a");
  runtime.run();
  EXPECT_EQ(trace, "ab");
}

TEST(AsioRuntime, ASignalRunsItsTaskEachTime) {
  AsioRuntime runtime;
  int hups = 0;
  runtime.on_signal(SIGHUP, [&] {
    if (++hups < 3) {
      std::raise(SIGHUP);
    } else {
      std::raise(SIGTERM);
    }
  });
  runtime.on_signal(SIGTERM, [&] { runtime.stop(); });
  std::raise(SIGHUP);
  runtime.run();
  EXPECT_EQ(hups, 3);
}

TEST(AsioRuntime, SignalsAreSeenWhileTasksKeepPosting) {
  AsioRuntime runtime;
  unsigned turns = 0;
  std::function<void()> busy = [&] {
    ++turns;
    runtime.post(busy);
  };
  runtime.post(busy);
  bool seen = false;
  runtime.on_signal(SIGTERM, [&] {
    seen = true;
    runtime.stop();
  });
  std::raise(SIGTERM);
  runtime.run();
  EXPECT_TRUE(seen);
  EXPECT_GT(turns, 0u) << "tasks kept posting meanwhile";
}

TEST(AsioRuntime, ASocketHandlerSeesTheClockAndItsTimersFire) {
  AsioRuntime runtime;
  bool fired = false;
  boost::asio::post(runtime.io(), [&] {
    const TimePoint before = runtime.now();
    runtime.call_at(before + 1ms, [&, before] {
      fired = runtime.now() >= before + 1ms;
      runtime.stop();
    });
  });
  runtime.run();
  EXPECT_TRUE(fired);
}

TEST(AsioRuntime, AnEarlierDeadlineOvertakesOneThatIsArmed) {
  AsioRuntime runtime;
  std::vector<int> ran;
  runtime.call_at(runtime.now() + 1h, [&] { ran.push_back(2); });
  runtime.call_at(runtime.now() + 1ms, [&] {
    ran.push_back(1);
    runtime.stop();
  });
  runtime.run();
  EXPECT_EQ(ran, std::vector<int>{1});
}

TEST(AsioRuntime, OffloadedWorkRunsBesideTheLoop) {
  AsioRuntime runtime;
  std::thread::id worker;
  runtime.offload([&] { worker = std::this_thread::get_id(); }, [&] { runtime.stop(); });
  runtime.run();
  EXPECT_NE(worker, std::this_thread::get_id());
}

TEST(AsioRuntime, WorkAsideKeepsNoOtherWorkWaiting) {
  AsioRuntime runtime;
  std::promise<void> disk;
  std::vector<std::string> ended;
  runtime.offload_aside([&] { disk.get_future().wait(); },
                        [&] {
                          ended.emplace_back("files");
                          runtime.stop();
                        });
  runtime.offload([] {},
                  [&] {
                    ended.emplace_back("routes");
                    disk.set_value();
                  });
  runtime.run();
  EXPECT_THAT(ended, testing::ElementsAre("routes", "files"));
}

TEST(AsioRuntime, DestroyingItDropsQueuedWorkAndContinuations) {
  bool continued = false;
  {
    AsioRuntime runtime;
    runtime.offload([] {}, [&] { continued = true; });
  }
  EXPECT_FALSE(continued);
}

using AsioRuntimeDeathTest = ::testing::Test;

TEST(AsioRuntimeDeathTest, AnExceptionFromATaskAbortsWithALine) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_DEATH(
      {
        AsioRuntime runtime;
        runtime.post([] { throw std::runtime_error("the cause"); });
        runtime.run();
      },
      "smd: bug at .*the cause");
}

TEST(AsioRuntimeDeathTest, AnExceptionFromOffloadedWorkAbortsWithALine) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_DEATH(
      {
        AsioRuntime runtime;
        runtime.offload([] { throw std::runtime_error("the cause"); }, [] {});
        runtime.run();
      },
      "smd: bug at .*the cause");
}

}  // namespace
}  // namespace smd

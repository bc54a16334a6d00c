// What every Runtime promises, checked on both.
#include <gmock/gmock.h>

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "sim-backend/kernel/sim_runtime.h"
#include "smd/runtime/asio_runtime.h"

namespace smd {
namespace {

using ::testing::ElementsAre;
using namespace std::chrono_literals;

/// Runs a loop until the test says it is finished.
struct SimHarness {
  sim::SimRuntime runtime;
  bool finished = false;

  void finish() { finished = true; }

  void run() {
    finished = false;
    ASSERT_TRUE(runtime.run_while_not([this] { return finished; }, runtime.now() + 1h));
  }
};

struct AsioHarness {
  AsioRuntime runtime;

  void finish() { runtime.stop(); }

  void run() { runtime.run(); }
};

template <class Harness>
class RuntimeContract : public ::testing::Test {
 protected:
  Harness harness_;
  Runtime& runtime_ = harness_.runtime;
  std::string trace_;

  Task note(char c) {
    return [this, c] { trace_ += c; };
  }

  /// Runs until everything due within the next few milliseconds has run, and what that armed: each
  /// step takes a turn of the loop, however late it comes.
  void run_all() {
    int steps = 20;
    std::function<void()> step = [&] {
      if (--steps == 0) return harness_.finish();
      runtime_.call_at(runtime_.now() + 1ms, step);
    };
    runtime_.call_at(runtime_.now() + 1ms, step);
    harness_.run();
  }
};

using Harnesses = ::testing::Types<SimHarness, AsioHarness>;
TYPED_TEST_SUITE(RuntimeContract, Harnesses);

TYPED_TEST(RuntimeContract, RunsByDeadlineAndEqualDeadlinesInArmingOrder) {
  const TimePoint start = this->runtime_.now();
  this->runtime_.call_at(start + 8ms, this->note('z'));
  for (char c = 'a'; c <= 'j'; ++c) this->runtime_.call_at(start + 4ms, this->note(c));
  this->runtime_.call_at(start + 2ms, this->note('0'));
  this->run_all();
  EXPECT_EQ(this->trace_, "0abcdefghijz");
}

TYPED_TEST(RuntimeContract, NeverRunsBeforeTheDeadline) {
  const TimePoint when = this->runtime_.now() + 5ms;
  std::optional<TimePoint> ran;
  this->runtime_.call_at(when, [&] { ran = this->runtime_.now(); });
  this->run_all();
  ASSERT_TRUE(ran);
  EXPECT_GE(*ran, when);
}

TYPED_TEST(RuntimeContract, ACancelledTaskDoesNotRun) {
  const TimePoint start = this->runtime_.now();
  const TimerId id = this->runtime_.call_at(start + 1ms, this->note('x'));
  this->runtime_.call_at(start + 2ms, this->note('a'));
  this->runtime_.cancel(id);
  this->run_all();
  EXPECT_EQ(this->trace_, "a");
}

TYPED_TEST(RuntimeContract, ATaskMayCancelOneThatIsDueAtTheSameTime) {
  const TimePoint when = this->runtime_.now() + 1ms;
  TimerId second = TimerId::None;
  this->runtime_.call_at(when, [&] { this->runtime_.cancel(second); });
  second = this->runtime_.call_at(when, this->note('x'));
  this->run_all();
  EXPECT_EQ(this->trace_, "");
}

TYPED_TEST(RuntimeContract, NeverRunsATaskInsideTheCallThatArmedIt) {
  this->runtime_.post([this] {
    this->trace_ += '(';
    this->runtime_.post(this->note('p'));
    this->runtime_.call_at(this->runtime_.now() + -1s, this->note('q'));
    this->runtime_.offload([] {},
                           [this] {
                             this->trace_ += 't';
                             this->harness_.finish();
                           });
    this->trace_ += ')';
  });
  EXPECT_EQ(this->trace_, "");
  this->harness_.run();
  EXPECT_EQ(this->trace_, "()pqt");
}

TYPED_TEST(RuntimeContract, APastDeadlineRunsAsSoonAsPossibleAndInArmingOrder) {
  this->runtime_.post(this->note('a'));
  this->runtime_.call_at(TimePoint{}, this->note('b'));
  this->runtime_.post(this->note('c'));
  this->run_all();
  EXPECT_EQ(this->trace_, "abc");
}

TYPED_TEST(RuntimeContract, TheClockStandsStillWithinAWakeUpAndNeverGoesBack) {
  const TimePoint when = this->runtime_.now() + 1ms;
  TimePoint first;
  TimePoint second;
  this->runtime_.call_at(when, [&] { first = this->runtime_.now(); });
  this->runtime_.call_at(when, [&] { second = this->runtime_.now(); });
  this->run_all();
  EXPECT_EQ(first, second);
  EXPECT_GE(this->runtime_.now(), second);
}

TYPED_TEST(RuntimeContract, ATaskThatAlwaysPostsItselfDoesNotStarveTimers) {
  const TimePoint end = this->runtime_.now() + 3ms;
  bool timer_ran = false;
  std::function<void()> again = [&] {
    if (!timer_ran) this->runtime_.call_at(this->runtime_.now() + 1us, again);
  };
  this->runtime_.post(again);
  this->runtime_.call_at(end, [&] { timer_ran = true; });
  this->run_all();
  EXPECT_TRUE(timer_ran);
}

TYPED_TEST(RuntimeContract, OffloadedWorkIsFinishedWhenItsContinuationRunsOnTheLoop) {
  const auto loop = std::this_thread::get_id();
  std::thread::id then_on;
  int result = 0;
  offload(
      this->runtime_,
      [] { return 42; },
      [&](int value) {
        result = value;
        then_on = std::this_thread::get_id();
        this->harness_.finish();
      });
  EXPECT_EQ(result, 0);
  this->harness_.run();
  EXPECT_EQ(result, 42);
  EXPECT_EQ(then_on, loop);
}

TYPED_TEST(RuntimeContract, OffloadedWorkIsDoneInOrder) {
  std::vector<int> done;
  for (int i = 0; i < 5; ++i) {
    this->runtime_.offload([] {},
                           [&, i] {
                             done.push_back(i);
                             if (i == 4) this->harness_.finish();
                           });
  }
  this->harness_.run();
  EXPECT_THAT(done, ElementsAre(0, 1, 2, 3, 4));
}

TYPED_TEST(RuntimeContract, ATimerDiesWithItsOwner) {
  const TimePoint when = this->runtime_.now() + 1ms;
  {
    Timer timer(this->runtime_, when, this->note('x'));
    Timer other(this->runtime_, when, this->note('y'));
    other.reset();
    other.reset();
  }
  this->run_all();
  EXPECT_EQ(this->trace_, "");
}

TYPED_TEST(RuntimeContract, AMovedTimerHasOneOwner) {
  const TimePoint when = this->runtime_.now() + 1ms;
  Timer kept;
  {
    Timer timer(this->runtime_, when, this->note('a'));
    kept = std::move(timer);
    Timer replaced(this->runtime_, when, this->note('x'));
    replaced = Timer(this->runtime_, when, this->note('y'));
    replaced.reset();
  }
  Timer moved(std::move(kept));
  this->run_all();
  EXPECT_EQ(this->trace_, "a");
}

TYPED_TEST(RuntimeContract, ATaskMayReplaceTheTimerThatRunsIt) {
  Timer timer;
  int runs = 0;
  std::function<void()> tick = [&] {
    if (++runs < 3) timer = Timer(this->runtime_, this->runtime_.now() + 1ms, [&] { tick(); });
  };
  timer = Timer(this->runtime_, this->runtime_.now() + 1ms, [&] { tick(); });
  this->run_all();
  EXPECT_EQ(runs, 3);
}

TYPED_TEST(RuntimeContract, UnfinishedTasksAreDestroyedWithTheRuntime) {
  auto alive = std::make_shared<int>();
  {
    TypeParam harness;
    Runtime& runtime = harness.runtime;
    runtime.post([alive] {});
    auto timer = std::make_shared<Timer>(runtime, runtime.now() + 1h, [alive] {});
    runtime.call_at(runtime.now() + 2h, [timer] {});
  }
  EXPECT_EQ(alive.use_count(), 1);
}

}  // namespace
}  // namespace smd

#include "smd/runtime/timer_queue.h"

#include <gmock/gmock.h>

#include <map>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "smd/base/rng.h"

namespace smd {
namespace {

using ::testing::ElementsAre;

TimePoint at(int ns) { return TimePoint{Duration{ns}}; }

TEST(TimerQueue, GivesTasksByDeadlineAndThenByArmingOrder) {
  TimerQueue queue;
  std::vector<int> ran;
  queue.add(at(5), [&] { ran.push_back(1); });
  queue.add(at(3), [&] { ran.push_back(2); });
  queue.add(at(5), [&] { ran.push_back(3); });
  queue.add(at(3), [&] { ran.push_back(4); });
  while (auto task = queue.pop_due(at(9))) (*task)();
  EXPECT_THAT(ran, ElementsAre(2, 4, 1, 3));
}

TEST(TimerQueue, KeepsWhatIsNotDue) {
  TimerQueue queue;
  queue.add(at(5), [] {});
  EXPECT_FALSE(queue.pop_due(at(4)));
  EXPECT_EQ(queue.next_deadline(), at(5));
  TimePoint due;
  EXPECT_TRUE(queue.pop_due(at(7), &due));
  EXPECT_EQ(due, at(5));
  EXPECT_EQ(queue.next_deadline(), std::nullopt);
}

TEST(TimerQueue, IgnoresIdsThatAreUnknownFiredOrReused) {
  TimerQueue queue;
  const TimerId fired = queue.add(at(1), [] {});
  EXPECT_TRUE(queue.pop_due(at(1)));
  queue.cancel(fired);
  queue.cancel(TimerId::None);
  queue.cancel(TimerId{12345678901});
  const TimerId reused = queue.add(at(2), [] {});  // takes the slot that `fired` had
  queue.cancel(fired);
  EXPECT_EQ(queue.size(), 1u);
  queue.cancel(reused);
  EXPECT_TRUE(queue.empty());
}

TEST(TimerQueue, ACancelledTaskIsDestroyedAtOnce) {
  TimerQueue queue;
  auto alive = std::make_shared<int>();
  const TimerId id = queue.add(at(1), [alive] {});
  EXPECT_EQ(alive.use_count(), 2);
  queue.cancel(id);
  EXPECT_EQ(alive.use_count(), 1);
}

/// Calls back from its destructor, as a task that owns a Timer does.
struct OnDeath {
  std::function<void()> call;

  ~OnDeath() { call(); }
};

TEST(TimerQueue, ADyingTaskMayCancelAndAddOthers) {
  TimerQueue queue;
  int ran = 0;
  const TimerId other = queue.add(at(1), [&] { ++ran; });
  auto death = std::make_shared<OnDeath>(OnDeath{[] {}});
  death->call = [&] {
    queue.cancel(other);
    for (int i = 0; i < 100; ++i) queue.add(at(2), [&] { ran += 10; });
  };
  const TimerId dying = queue.add(at(1), [death = std::move(death)] {});
  queue.cancel(dying);
  while (auto task = queue.pop_due(at(9))) (*task)();
  EXPECT_EQ(ran, 1000);
}

TEST(TimerQueue, ClearDestroysAlsoWhatDyingTasksAdd) {
  auto alive = std::make_shared<int>();
  {
    TimerQueue queue;
    auto death = std::make_shared<OnDeath>(OnDeath{[] {}});
    death->call = [&] { queue.add(at(3), [alive] {}); };
    queue.add(at(1), [death = std::move(death)] {});
  }
  EXPECT_EQ(alive.use_count(), 1);
}

TEST(TimerQueue, AgreesWithAnOrderedMapOverRandomOperations) {
  Rng rng(7);
  TimerQueue queue;
  std::map<std::pair<TimePoint, int>, TimerId> model;  // the number is the arming order
  int last_ran = -1;
  for (int i = 0; i < 20000; ++i) {
    const std::uint64_t choice = rng.below(10);
    if (choice < 5) {
      const TimePoint when = at(static_cast<int>(rng.below(50)));
      model[{when, i}] = queue.add(when, [&last_ran, i] { last_ran = i; });
    } else if (choice < 8 && !model.empty()) {
      const auto victim = std::next(model.begin(), static_cast<long>(rng.below(model.size())));
      queue.cancel(victim->second);
      model.erase(victim);
    } else {
      const TimePoint now = at(static_cast<int>(rng.below(50)));
      const auto task = queue.pop_due(now);
      ASSERT_EQ(task.has_value(), !model.empty() && model.begin()->first.first <= now);
      if (task) {
        (*task)();
        ASSERT_EQ(last_ran, model.begin()->first.second);
        model.erase(model.begin());
      }
    }
    ASSERT_EQ(queue.size(), model.size());
  }
}

}  // namespace
}  // namespace smd

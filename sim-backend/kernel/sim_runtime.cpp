#include "sim-backend/kernel/sim_runtime.h"

#include <algorithm>
#include <thread>
#include <utility>

namespace smd::sim {
namespace {

/// What the work holds is let go after the thread has ended: counting down who shares a value would
/// put in order, for ThreadSanitizer, what happens to be done later without waiting.
struct Job {
  explicit Job(Task w) : work(std::move(w)) {}

  Task work;
  std::jthread thread;  // last: joined before the work goes
};

}  // namespace

TimePoint SimRuntime::now() const { return now_; }

TimerId SimRuntime::call_at(TimePoint when, Task task) {
  // A past deadline is as due as now, so that a task re-arming itself in the past starves nobody.
  return queue_.add(std::max(when, now_), std::move(task));
}

void SimRuntime::cancel(TimerId id) { queue_.cancel(id); }

void SimRuntime::post(Task task) { queue_.add(now_, std::move(task)); }

void SimRuntime::use_thread(Duration longest, std::uint64_t seed) {
  worker_.emplace(longest, Rng(seed), now_);
}

void SimRuntime::offload_to_thread(Task work, Task then) {
  const TimePoint begin = std::max(now_, worker_->free_at);
  const auto longest = static_cast<std::uint64_t>(worker_->longest.count());
  const TimePoint end =
      begin + Duration(static_cast<std::int64_t>(worker_->rng.below(longest + 1)));
  worker_->free_at = end;
  queue_.add(begin, [this, end, work = std::move(work), then = std::move(then)]() mutable {
    auto job = std::make_shared<Job>(std::move(work));
    job->thread = std::jthread([&work = job->work] { work(); });
    queue_.add(end, [job = std::move(job), then = std::move(then)] {
      job->thread.join();
      then();
    });
  });
}

void SimRuntime::offload(Task work, Task then) {
  if (worker_) return offload_to_thread(std::move(work), std::move(then));
  post([work = std::move(work), then = std::move(then), this]() mutable {
    work();
    post(std::move(then));
  });
}

bool SimRuntime::run_one() {
  const std::optional<TimePoint> deadline = queue_.next_deadline();
  if (!deadline) return false;
  now_ = *deadline;
  const std::optional<Task> task = queue_.pop_due(now_);
  ++tasks_run_;
  (*task)();
  return true;
}

void SimRuntime::run_until(TimePoint until) {
  while (true) {
    const std::optional<Task> task = queue_.pop_due(until, &now_);
    if (!task) break;
    ++tasks_run_;
    (*task)();
  }
  now_ = std::max(now_, until);
}

bool SimRuntime::run_while_not(const std::function<bool()>& done, TimePoint limit) {
  while (!done()) {
    const std::optional<Task> task = queue_.pop_due(limit, &now_);
    if (!task) return false;
    ++tasks_run_;
    (*task)();
  }
  return true;
}

}  // namespace smd::sim

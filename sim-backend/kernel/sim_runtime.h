// Virtual time: the clock jumps from one deadline to the next. Offloaded work runs inline, in
// posting order, unless use_thread() was called.
#pragma once

#include <optional>

#include "smd/base/rng.h"
#include "smd/runtime/runtime.h"
#include "smd/runtime/timer_queue.h"

namespace smd::sim {

class SimRuntime final : public Runtime {
 public:
  [[nodiscard]] TimePoint now() const override;
  TimerId call_at(TimePoint when, Task task) override;
  void cancel(TimerId id) override;
  void post(Task task) override;
  void offload(Task work, Task then) override;

  /// From now on offloaded work runs on a thread, one job after the other, while the loop goes on:
  /// a job takes up to `longest` of virtual time, drawn with `seed`, and `then` runs at its end.
  /// Who waits for whom is the same in every run; what jobs and loop touch meanwhile they touch at
  /// once.
  void use_thread(Duration longest, std::uint64_t seed);

  /// The thread has something to do, as virtual time has it.
  [[nodiscard]] bool computing() const { return worker_ && worker_->free_at > now_; }

  /// Runs the earliest task; false when there is none.
  bool run_one();

  /// Runs everything due up to `until`, then sets the clock to it.
  void run_until(TimePoint until);

  /// Runs until `done()` holds or nothing is left or `limit` is reached; returns done().
  bool run_while_not(const std::function<bool()>& done, TimePoint limit);

  [[nodiscard]] std::uint64_t tasks_run() const { return tasks_run_; }

 private:
  struct Worker {
    Duration longest;
    Rng rng;
    TimePoint free_at;  // when it has done what it was given
  };

  void offload_to_thread(Task work, Task then);

  TimerQueue queue_;
  std::optional<Worker> worker_;
  TimePoint now_{
      Duration{std::chrono::seconds(1)}};  // not zero: a default TimePoint must be in the past
  std::uint64_t tasks_run_ = 0;
};

}  // namespace smd::sim

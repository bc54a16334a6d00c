// Virtual time: the clock jumps from one deadline to the next. Offloaded work runs inline, in
// posting order.
#pragma once

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

  /// Runs the earliest task; false when there is none.
  bool run_one();

  /// Runs everything due up to `until`, then sets the clock to it.
  void run_until(TimePoint until);

  /// Runs until `done()` holds or nothing is left or `limit` is reached; returns done().
  bool run_while_not(const std::function<bool()>& done, TimePoint limit);

  [[nodiscard]] std::uint64_t tasks_run() const { return tasks_run_; }

 private:
  TimerQueue queue_;
  TimePoint now_{
      Duration{std::chrono::seconds(1)}};  // not zero: a default TimePoint must be in the past
  std::uint64_t tasks_run_ = 0;
};

}  // namespace smd::sim

// Time, timers and the loop: the first of the two seams between the core and the world.
//
// Handlers run one at a time on the loop, never inside the call that armed them; equal deadlines
// fire in arming order. now() is refreshed once per wake-up.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <type_traits>
#include <utility>

namespace smd {

using Duration = std::chrono::nanoseconds;

[[nodiscard]] inline double in_seconds(Duration duration) {
  return std::chrono::duration<double>(duration).count();
}

/// Nanoseconds since the runtime's own epoch. Wall clocks do not exist below app/.
struct TimePoint {
  Duration since_epoch{0};

  friend constexpr auto operator<=>(TimePoint, TimePoint) = default;

  friend constexpr TimePoint operator+(TimePoint t, Duration d) { return {t.since_epoch + d}; }

  friend constexpr Duration operator-(TimePoint a, TimePoint b) {
    return a.since_epoch - b.since_epoch;
  }
};

using Task = std::function<void()>;

enum class TimerId : std::uint64_t { None = 0 };

class Runtime {
 public:
  virtual ~Runtime() = default;

  [[nodiscard]] virtual TimePoint now() const = 0;

  /// For differences alone: of a clock that goes on while the machine is suspended, which now()
  /// need not do.
  [[nodiscard]] virtual TimePoint now_with_suspends() const { return now(); }

  /// Runs `task` once at `when`, or as soon as possible when that is past.
  virtual TimerId call_at(TimePoint when, Task task) = 0;

  /// Afterwards the task does not run. Unknown or fired ids are ignored.
  virtual void cancel(TimerId id) = 0;

  /// call_at(now()). The only member that any thread may call.
  virtual void post(Task task) = 0;

  /// `work` runs elsewhere (inline in simulation), then `then` runs on the loop.
  virtual void offload(Task work, Task then) = 0;

  /// As offload(), but for work that routes must not wait for, such as files on a slow disk. Up to
  /// four at a time.
  virtual void offload_aside(Task work, Task then) { offload(std::move(work), std::move(then)); }
};

/// A pending call that dies with its owner. Callers hold this, never a TimerId.
class Timer {
 public:
  Timer() = default;

  Timer(Runtime& runtime, TimePoint when, Task task)
      : runtime_(&runtime), id_(runtime.call_at(when, std::move(task))) {}

  Timer(Timer&& other) noexcept
      : runtime_(std::exchange(other.runtime_, nullptr)),
        id_(std::exchange(other.id_, TimerId::None)) {}

  Timer& operator=(Timer&& other) noexcept {
    if (this != &other) {
      reset();
      runtime_ = std::exchange(other.runtime_, nullptr);
      id_ = std::exchange(other.id_, TimerId::None);
    }
    return *this;
  }

  ~Timer() { reset(); }

  void reset() {
    if (runtime_ != nullptr) runtime_->cancel(id_);
    runtime_ = nullptr;
  }

 private:
  Runtime* runtime_ = nullptr;
  TimerId id_ = TimerId::None;
};

/// Ends a stage that has just called its owner from one of its own handlers: when that has
/// returned, the stage is destroyed, and `then` runs. `stage`: an optional or a unique_ptr.
/// Requires: the owner keeps the timer.
template <class Stage, class Then>
[[nodiscard]] Timer leave(Runtime& runtime, Stage& stage, Then then) {
  return Timer(runtime, runtime.now(), [&stage, then = std::move(then)]() mutable {
    stage.reset();
    then();
  });
}

/// Work done elsewhere for an owner: the result reaches it only while it lives.
class OffloadOwner {
 public:
  OffloadOwner() = default;
  OffloadOwner(const OffloadOwner&) = delete;

  ~OffloadOwner() { *alive_ = false; }

  /// `work` returns a value, `then` takes it. `work` may outlive the owner and must own what it
  /// uses.
  template <class Work, class Then>
  void offload(Runtime& runtime, Work work, Then then) {
    pass_on([&](Task a, Task b) { runtime.offload(std::move(a), std::move(b)); },
            std::move(work),
            std::move(then));
  }

  /// Routes do not wait for it.
  template <class Work, class Then>
  void offload_aside(Runtime& runtime, Work work, Then then) {
    pass_on([&](Task a, Task b) { runtime.offload_aside(std::move(a), std::move(b)); },
            std::move(work),
            std::move(then));
  }

 private:
  template <class Offload, class Work, class Then>
  void pass_on(Offload offload, Work work, Then then) {
    using Value = std::invoke_result_t<Work>;
    auto slot = std::make_shared<std::unique_ptr<Value>>();
    offload([slot, work = std::move(work)]() mutable { *slot = std::make_unique<Value>(work()); },
            [slot, alive = alive_, then = std::move(then)]() mutable {
              if (*alive) then(std::move(**slot));
            });
  }

  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);  // read and written on the loop only
};

/// Typed offload: `work` returns a value, `then` takes it.
template <class Work, class Then>
void offload(Runtime& runtime, Work work, Then then) {
  using Value = std::invoke_result_t<Work>;
  auto slot = std::make_shared<std::unique_ptr<Value>>();
  runtime.offload(
      [slot, work = std::move(work)]() mutable { *slot = std::make_unique<Value>(work()); },
      [slot, then = std::move(then)]() mutable { then(std::move(**slot)); });
}

}  // namespace smd

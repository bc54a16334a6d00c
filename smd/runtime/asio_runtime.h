// The real Runtime: one Boost.Asio loop, one steady_timer, the shared TimerQueue, one worker.
//
// Build it, arm it and run it on one thread; that thread is the loop. Asio stays out of this
// header because it costs seconds per file: only files that own sockets include it.
#pragma once

#include <memory>

#include "smd/runtime/runtime.h"

namespace boost::asio {
class io_context;
}

namespace smd {

class AsioRuntime final : public Runtime {
 public:
  AsioRuntime();

  /// Waits for offloaded work that is running; what is still queued is dropped.
  ~AsioRuntime() override;

  /// The time of the current wake-up. Inside a socket handler of io(), which is a wake-up of its
  /// own, the clock is read.
  [[nodiscard]] TimePoint now() const override;
  [[nodiscard]] TimePoint now_with_suspends() const override;
  TimerId call_at(TimePoint when, Task task) override;
  void cancel(TimerId id) override;
  void post(Task task) override;
  void offload(Task work, Task then) override;
  void offload_aside(Task work, Task then) override;

  /// Runs handlers until stop(). An exception that leaves a handler is a bug: one line, then abort.
  void run();

  /// Makes run() return after the handler in progress. Safe from any thread.
  void stop();

  /// Runs `task` on the loop each time the process receives `signal`, instead of its default
  /// action.
  void on_signal(int signal, Task task);

  /// For sockets. Their handlers run on the loop.
  [[nodiscard]] boost::asio::io_context& io();

 private:
  template <class Pool>
  void offload_to(Pool& pool, Task work, Task then);

  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace smd

// The queue that both runtimes share: tasks keyed by (deadline, sequence), so that order never
// depends on a library.
#pragma once

#include <cstdint>
#include <optional>
#include <unordered_set>
#include <vector>

#include "smd/runtime/runtime.h"

namespace smd {

class TimerQueue {
 public:
  TimerId add(TimePoint when, Task task);

  void cancel(TimerId id);

  /// The earliest deadline, or nothing when the queue is empty.
  [[nodiscard]] std::optional<TimePoint> next_deadline();

  /// Takes the earliest task whose deadline is at most `now`. Sets `deadline` to when it was due.
  [[nodiscard]] std::optional<Task> pop_due(TimePoint now, TimePoint* deadline = nullptr);

  [[nodiscard]] bool empty();

 private:
  struct Item {
    TimePoint when;
    std::uint64_t sequence;
    Task task;
  };

  /// Drops cancelled items from the top.
  void skim();

  std::vector<Item> heap_;
  std::unordered_set<std::uint64_t> pending_;  // sequences neither fired nor cancelled
  std::uint64_t next_sequence_ = 1;
};

}  // namespace smd

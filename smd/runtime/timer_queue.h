// The queue that both runtimes share: tasks keyed by (deadline, sequence), so that order never
// depends on a library.
//
// A heap of small keys over a table of slots: tasks never move while keys are sifted, and a
// cancelled task is destroyed at once while its key stays behind until it surfaces or until dead
// keys outnumber live ones.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "smd/runtime/runtime.h"

namespace smd {

class TimerQueue {
 public:
  TimerQueue() = default;
  TimerQueue(const TimerQueue&) = delete;

  ~TimerQueue() { clear(); }

  TimerId add(TimePoint when, Task task);

  void cancel(TimerId id);

  /// The earliest deadline, or nothing when the queue is empty.
  [[nodiscard]] std::optional<TimePoint> next_deadline();

  /// Takes the earliest task whose deadline is at most `now`. Sets `deadline` to when it was due.
  [[nodiscard]] std::optional<Task> pop_due(TimePoint now, TimePoint* deadline = nullptr);

  /// Destroys every task, those included that dying tasks add.
  void clear();

  [[nodiscard]] bool empty() const { return live_ == 0; }

  /// Tasks that wait.
  [[nodiscard]] std::size_t size() const { return live_; }

 private:
  struct Key {
    TimePoint when;
    std::uint64_t sequence;
    std::uint32_t slot;
    std::uint32_t generation;

    [[nodiscard]] bool before(const Key& other) const {
      return when != other.when ? when < other.when : sequence < other.sequence;
    }
  };

  struct Slot {
    Task task;
    std::uint32_t generation = 1;  // of the task that is or comes next in this slot
  };

  [[nodiscard]] bool is_dead(const Key& key) const {
    return slots_[key.slot].generation != key.generation;
  }

  [[nodiscard]] Task release(std::uint32_t slot);
  void sift_up(std::size_t at);
  void sift_down(std::size_t at);
  void pop_top();

  /// Drops dead keys from the top.
  void skim();

  /// Rebuilds the heap without its dead keys.
  void compact();

  std::vector<Key> heap_;  // four children per node: half the depth of a binary heap
  std::vector<Slot> slots_;
  std::vector<std::uint32_t> free_slots_;
  std::uint64_t next_sequence_ = 1;
  std::size_t live_ = 0;
};

}  // namespace smd

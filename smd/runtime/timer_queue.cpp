#include "smd/runtime/timer_queue.h"

#include <algorithm>
#include <utility>

namespace smd {
namespace {

constexpr std::size_t kArity = 4;
constexpr std::size_t kCompactFrom = 64;  // below this a rebuild costs more than it frees

TimerId make_id(std::uint32_t slot, std::uint32_t generation) {
  return TimerId{std::uint64_t{generation} << 32 | slot};
}

}  // namespace

TimerId TimerQueue::add(TimePoint when, Task task) {
  std::uint32_t slot = 0;
  if (free_slots_.empty()) {
    slot = static_cast<std::uint32_t>(slots_.size());
    slots_.emplace_back();
  } else {
    slot = free_slots_.back();
    free_slots_.pop_back();
  }
  slots_[slot].task = std::move(task);
  const std::uint32_t generation = slots_[slot].generation;
  heap_.push_back({when, next_sequence_++, slot, generation});
  sift_up(heap_.size() - 1);
  ++live_;
  return make_id(slot, generation);
}

void TimerQueue::cancel(TimerId id) {
  const auto slot = static_cast<std::uint32_t>(static_cast<std::uint64_t>(id));
  const auto generation = static_cast<std::uint32_t>(static_cast<std::uint64_t>(id) >> 32);
  if (slot >= slots_.size() || slots_[slot].generation != generation) return;
  // Destroyed last, at the end of this scope: a captured Timer cancels in its destructor.
  const Task dying = release(slot);
  if (heap_.size() >= kCompactFrom && heap_.size() > 2 * live_) compact();
}

std::optional<TimePoint> TimerQueue::next_deadline() {
  skim();
  if (heap_.empty()) return std::nullopt;
  return heap_.front().when;
}

std::optional<Task> TimerQueue::pop_due(TimePoint now, TimePoint* deadline) {
  skim();
  if (heap_.empty() || heap_.front().when > now) return std::nullopt;
  if (deadline != nullptr) *deadline = heap_.front().when;
  const std::uint32_t slot = heap_.front().slot;
  pop_top();
  return release(slot);
}

void TimerQueue::clear() {
  while (live_ > 0) {
    skim();
    const std::uint32_t slot = heap_.front().slot;
    pop_top();
    const Task dying = release(slot);  // one at a time: what it captured may cancel others
  }
  heap_.clear();
}

Task TimerQueue::release(std::uint32_t slot) {
  Slot& entry = slots_[slot];
  Task task = std::exchange(entry.task, nullptr);
  // Zero would make slot 0 look like TimerId::None.
  if (++entry.generation == 0) entry.generation = 1;
  free_slots_.push_back(slot);
  --live_;
  return task;
}

void TimerQueue::sift_up(std::size_t at) {
  const Key key = heap_[at];
  while (at > 0) {
    const std::size_t parent = (at - 1) / kArity;
    if (!key.before(heap_[parent])) break;
    heap_[at] = heap_[parent];
    at = parent;
  }
  heap_[at] = key;
}

void TimerQueue::sift_down(std::size_t at) {
  const Key key = heap_[at];
  while (true) {
    const std::size_t first = at * kArity + 1;
    if (first >= heap_.size()) break;
    const std::size_t last = std::min(first + kArity, heap_.size());
    std::size_t least = first;
    for (std::size_t child = first + 1; child < last; ++child) {
      if (heap_[child].before(heap_[least])) least = child;
    }
    if (!heap_[least].before(key)) break;
    heap_[at] = heap_[least];
    at = least;
  }
  heap_[at] = key;
}

void TimerQueue::pop_top() {
  heap_.front() = heap_.back();
  heap_.pop_back();
  if (!heap_.empty()) sift_down(0);
}

void TimerQueue::skim() {
  while (!heap_.empty() && is_dead(heap_.front())) pop_top();
}

void TimerQueue::compact() {
  std::erase_if(heap_, [this](const Key& key) { return is_dead(key); });
  for (std::size_t at = heap_.size(); at-- > 0;) sift_down(at);
}

}  // namespace smd

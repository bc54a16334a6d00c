// Events in the order (time, what): what happens at one instant does not depend on who scheduled
// it first, so that neither the queue's kind nor a partition of the fabric shows in the results.
//
// A wheel of buckets, each a short stretch of time, over a heap for what lies beyond the wheel.
// Buckets keep their memory: no allocation once the busiest moment has passed. The width follows
// the density of events.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "sim-backend/packet/picos.h"

namespace smd::sim {

struct Event {
  Picos at = 0;
  std::uint64_t what = 0;

  friend bool operator==(const Event&, const Event&) = default;

  [[nodiscard]] bool before(const Event& other) const {
    return at != other.at ? at < other.at : what < other.what;
  }
};

/// Four children per node. The wheel's overflow, and the yardstick that it is measured against.
class EventHeap {
 public:
  void push(const Event& event);
  void pop();

  [[nodiscard]] const Event& top() const { return heap_.front(); }

  [[nodiscard]] bool empty() const { return heap_.empty(); }

  [[nodiscard]] std::size_t size() const { return heap_.size(); }

 private:
  std::vector<Event> heap_;
};

class EventWheel {
 public:
  /// Requires: event.at is not before what was popped last.
  void push(const Event& event) {
    ++size_;
    const std::int64_t bucket = event.at >> shift_;
    if (bucket <= current_bucket_) return push_current(event);
    if (bucket - current_bucket_ >= kBuckets) return overflow_.push(event);
    push_bucket(bucket, event);
  }

  /// The earliest event. Requires: not empty.
  [[nodiscard]] const Event& top() {
    if (current_.empty()) advance();
    return current_.back();
  }

  void pop() {
    if (current_.empty()) advance();
    current_.pop_back();
    --size_;
    ++popped_;
  }

  [[nodiscard]] bool empty() const { return size_ == 0; }

  [[nodiscard]] std::size_t size() const { return size_; }

 private:
  static constexpr std::int64_t kBuckets = 2048;
  static constexpr std::size_t kWords = kBuckets / 64;

  void push_bucket(std::int64_t bucket, const Event& event) {
    const auto slot = static_cast<std::size_t>(bucket & (kBuckets - 1));
    buckets_[slot].push_back(event);
    occupied_[slot / 64] |= std::uint64_t{1} << (slot % 64);
  }

  void push_current(const Event& event);
  void advance();
  [[nodiscard]] std::int64_t next_occupied() const;
  void retune();
  void rebuild(unsigned shift);

  unsigned shift_ = 10;  // of the width of a bucket, 2^shift ps
  std::int64_t current_bucket_ = -1;
  std::vector<Event> current_;  // latest first
  std::vector<std::vector<Event>> buckets_ = std::vector<std::vector<Event>>(kBuckets);
  std::array<std::uint64_t, kWords> occupied_{};
  EventHeap overflow_;
  std::size_t size_ = 0;
  std::uint64_t popped_ = 0;
  std::uint64_t advances_ = 0;
};

}  // namespace smd::sim

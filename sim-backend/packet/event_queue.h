// Events in the order (time, what): what happens at one instant does not depend on who scheduled
// it first, so that neither the queue's kind nor a partition of the fabric shows in the results.
//
// A wheel of buckets, each a short stretch of time, over a heap for what lies beyond the wheel. The
// width follows the density of events. The wheel has so many buckets because a fabric of thousands
// of hosts has an event every picosecond or two, and most are 50 to 250 ns away: what goes through
// the heap costs several times as much. Waiting events lie in one pool, in chunks, a list of them
// per bucket, and what was emptied is used again first: what the queue touches stays in the caches,
// and no memory is taken once the busiest moment has passed. Where links keep a common clock,
// thousands of events have one instant, which no width divides: what is added to such a bucket
// while it is used up goes through a heap of its own.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "sim-backend/kernel/huge_pages.h"
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

  [[nodiscard]] std::size_t memory() const { return heap_.capacity() * sizeof(Event); }

 private:
  std::vector<Event> heap_;
};

class EventWheel {
 public:
  /// A bucket is never narrower than 2^least_shift. Where time goes by in steps, a narrower one
  /// than a step is of no use, and where all of a step's events happen at once a wider one mixes
  /// steps.
  explicit EventWheel(unsigned least_shift = 4) : least_shift_(least_shift) {}

  /// Requires: event.at is not before what was popped last.
  void push(const Event& event) {
    ++size_;
    const std::int64_t bucket = event.at >> shift_;
    if (bucket <= current_bucket_) return push_current(event);
    if (bucket - current_bucket_ >= kBuckets) return overflow_.push(event);
    push_bucket(bucket, event);
  }

  /// Takes in the next bucket when the one before is used up: its events, latest first; else
  /// nothing. Requires: not empty.
  [[nodiscard]] std::span<const Event> refill() {
    if (!current_.empty() || !late_.empty()) return {};
    advance();
    return current_;
  }

  /// The earliest event. Requires: not empty.
  [[nodiscard]] const Event& top() {
    if (is_late_next()) [[unlikely]]
      return late_.top();
    if (current_.empty()) advance();
    return current_.back();
  }

  void pop() {
    --size_;
    ++popped_;
    if (is_late_next()) [[unlikely]]
      return late_.pop();
    if (current_.empty()) advance();
    current_.pop_back();
  }

  [[nodiscard]] bool empty() const { return size_ == 0; }

  [[nodiscard]] std::size_t size() const { return size_; }

  /// Of a bucket, as it is now.
  [[nodiscard]] Picos bucket_width() const { return Picos{1} << shift_; }

  /// Bytes beside the object itself: all; those of buckets, whatever waits; those of what waits,
  /// with as many chunks as there were at once.
  [[nodiscard]] std::size_t memory() const {
    return pool_.capacity() * sizeof(Chunk) + buckets_.capacity() * sizeof(std::uint32_t) +
           current_.capacity() * sizeof(Event) + late_.memory() + overflow_.memory();
  }

  [[nodiscard]] std::size_t memory_used() const {
    return pool_.size() * sizeof(Chunk) +
           (current_.size() + late_.size() + overflow_.size()) * sizeof(Event);
  }

  static constexpr std::int64_t kBuckets = 16384;
  static constexpr std::size_t kFixedMemory = kBuckets * sizeof(std::uint32_t);

 private:
  static constexpr std::size_t kWords = kBuckets / 64;

  // A chunk's number and how many events it holds, in the last three bits: a full one and none look
  // alike there.
  static constexpr std::uint32_t kNone = UINT32_MAX;
  static constexpr unsigned kCountBits = 3;
  static constexpr std::uint32_t kFull = (1u << kCountBits) - 1;

  /// Two cache lines.
  struct alignas(64) Chunk {
    std::array<Event, kFull> events;
    std::uint32_t next = kNone;  // in its bucket, or among those that are free
  };

  void push_bucket(std::int64_t bucket, const Event& event) {
    const auto slot = static_cast<std::size_t>(bucket & (kBuckets - 1));
    std::uint32_t& filling = buckets_[slot];
    if ((filling & kFull) == kFull) filling = add_chunk(filling);
    pool_[filling >> kCountBits].events[filling & kFull] = event;
    ++filling;
    occupied_[slot / 64] |= std::uint64_t{1} << (slot % 64);
  }

  std::uint32_t add_chunk(std::uint32_t next) {
    std::uint32_t at = free_;
    if (at == kNone) {
      at = static_cast<std::uint32_t>(pool_.size()) << kCountBits;
      pool_.emplace_back();
    } else {
      free_ = pool_[at >> kCountBits].next;
    }
    pool_[at >> kCountBits].next = next;
    return at;
  }

  [[nodiscard]] bool is_late_next() const {
    return !late_.empty() && (current_.empty() || late_.top().before(current_.back()));
  }

  void empty_bucket(std::size_t slot, std::vector<Event>& out);
  void push_current(const Event& event);
  void advance();
  [[nodiscard]] std::int64_t next_occupied() const;
  void retune();
  void rebuild(unsigned shift);

  unsigned shift_ = 10;  // of the width of a bucket, 2^shift ps
  unsigned least_shift_;
  std::int64_t current_bucket_ = -1;
  std::vector<Event> current_;  // latest first
  EventHeap late_;              // of the current bucket too: what came when many were left in it
  std::vector<std::uint32_t> buckets_ = std::vector<std::uint32_t>(kBuckets, kNone);
  PagedVector<Chunk> pool_;
  std::uint32_t free_ = kNone;
  std::array<std::uint64_t, kWords> occupied_{};
  EventHeap overflow_;
  std::size_t size_ = 0;
  std::uint64_t popped_ = 0;
  std::uint64_t advances_ = 0;
};

}  // namespace smd::sim

// A client inside the manager's own process: it hands requests to whoever receives MADs and takes
// the answers from whoever sends, so that nothing but the manager's own work lies between.
//
// One thread takes questions; any thread gives answers. A question is out until it is answered.
#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <span>
#include <vector>

#include "tests/bench/sa/feed_order.h"

namespace smd::bench {

/// Waits by their length, within 3 %.
class WaitCounts {
 public:
  void add(std::uint64_t ns) { counts_[index(ns)].fetch_add(1, std::memory_order_relaxed); }

  /// The shortest wait that `share` of all do not exceed; 0 without any.
  [[nodiscard]] double us_at(double share) const;

  void clear();

 private:
  static constexpr unsigned kBits = 5;  // of the mantissa

  [[nodiscard]] static std::size_t index(std::uint64_t ns);
  [[nodiscard]] static std::uint64_t ns_of(std::size_t index);

  std::array<std::atomic<std::uint64_t>, (64 - kBits) << kBits> counts_{};
};

struct FeedCounts {
  std::atomic<std::uint64_t> answered = 0;  // status 0, with the right ends
  std::atomic<std::uint64_t> refused = 0;
  std::atomic<std::uint64_t> wrong = 0;    // other ends than were asked for
  std::atomic<std::uint64_t> unasked = 0;  // a second answer, or one that came too late
  std::atomic<std::uint64_t> passed = 0;   // MADs that the manager sent to others
};

class Feed {
 public:
  /// Requires: nothing is out, or what is will not be counted. `once`: every pair one time. A
  /// question every `interval_ns`; 0: whenever the window has room.
  void open(std::span<const std::byte, kFeedMad> mad,
            std::vector<FeedPair> pairs,
            unsigned window,
            bool once,
            std::uint64_t interval_ns = 0);

  /// From now on no more questions.
  void close() { open_ = false; }

  /// A question, when there is one and the window has room; writes who asks into `asker`.
  [[nodiscard]] bool take(std::span<std::byte, kFeedMad> mad, std::array<std::byte, 2>& asker);

  /// False: not an answer to one of ours.
  [[nodiscard]] bool give(std::span<const std::byte> mad);

  /// The manager sent something else.
  void note_passed() { counts_.passed.fetch_add(1, std::memory_order_relaxed); }

  [[nodiscard]] bool has_questions() const {
    return open_.load(std::memory_order_relaxed) && free_.load(std::memory_order_relaxed) != 0 &&
           is_due();
  }

  [[nodiscard]] bool is_open() const { return open_; }

  [[nodiscard]] unsigned outstanding() const;

  [[nodiscard]] const FeedCounts& counts() const { return counts_; }

  [[nodiscard]] const WaitCounts& waits() const { return waits_; }

  /// With the LIDs that were answered.
  [[nodiscard]] const std::vector<FeedPair>& pairs() const { return pairs_; }

 private:
  struct Slot {
    std::atomic<std::uint64_t> transaction = 0;  // 0: free
    std::size_t pair = 0;
    std::uint64_t asked_ns = 0;
  };

  [[nodiscard]] bool fits(std::size_t pair, const std::byte* mad);

  [[nodiscard]] bool is_due() const;

  std::atomic<bool> open_ = false;
  std::atomic<std::uint64_t> free_ = 0;  // a bit for each slot
  std::uint64_t all_ = 0;
  std::array<Slot, kFeedMostInFlight> slots_;
  std::array<std::byte, kFeedMad> mad_{};
  std::vector<FeedPair> pairs_;
  std::size_t next_ = 0;
  bool once_ = false;
  std::uint64_t interval_ns_ = 0;
  std::atomic<std::uint64_t> due_ns_ = 0;  // of the next question
  std::uint64_t sequence_ = 0;
  FeedCounts counts_;
  WaitCounts waits_;
};

}  // namespace smd::bench

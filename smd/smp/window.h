// How many SMPs may be under way, how fast they follow each other, and which are lost.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <deque>
#include <optional>

#include "smd/runtime/runtime.h"

namespace smd {

// How many SMPs may be on the wire: doubles per round trip until the first loss; a loss halves it.
// It learns what the fabric takes: from a loss on it doubles only up to three quarters of the size
// that was too much, and beyond that feels its way one by one, more slowly each time that it runs
// into the same wall, since every collision costs far more than a slightly larger window gains.
// It knows nothing of nodes that are gone: see take_back().

class SmpWindow {
 public:
  /// Requires: 1 <= min <= start <= max.
  SmpWindow(unsigned min, unsigned start, unsigned max)
      : min_(min), max_(max), size_(start), known_good_(max) {}

  [[nodiscard]] unsigned size() const { return size_; }

  /// An answer to the latest attempt, in time, while the window was full. Answers that came while
  /// nobody was held back say nothing about the room there is.
  void on_answer() {
    if (size_ == max_) return;
    if (size_ >= known_good_ && ++answers_ < size_ * caution_) return;
    answers_ = 0;
    ++size_;
  }

  /// A SMP injected at `injected` as one of `burst` on the wire is lost, as is known `now`. What
  /// was injected before the last halving was lost to the same crowd and does not count again. No
  /// more than the minimum are no crowd: as many go out in any case. True: it counted.
  bool on_loss(TimePoint injected, TimePoint now, unsigned burst) {
    if (burst <= min_ || (wall_ != 0 && injected < halved_at_)) return false;
    const unsigned lost_at = std::clamp(burst, min_, size_);
    const bool same_wall = wall_ != 0 && 4 * lost_at >= 3 * wall_ && 3 * lost_at <= 4 * wall_;
    caution_ = same_wall ? std::min(2 * caution_, kMostCaution) : kLeastCaution;
    wall_ = lost_at;
    known_good_ = std::max(min_, lost_at * 3 / 4);
    size_ = std::max(min_, lost_at / 2);
    answers_ = 0;
    halved_at_ = now;
    return true;
  }

  /// Nothing was too much since it was like `before`: what was lost went to nodes that are gone.
  void take_back(const SmpWindow& before) {
    const unsigned grown = size_;
    *this = before;
    size_ = std::max(size_, grown);
  }

 private:
  static constexpr unsigned kLeastCaution = 2;
  static constexpr unsigned kMostCaution = 64;

  unsigned min_;
  unsigned max_;
  unsigned size_;
  unsigned known_good_;   // doubling ends here
  unsigned wall_ = 0;     // the size of the last loss; 0: none yet
  unsigned caution_ = 0;  // windows of answers per step beyond known_good_
  unsigned answers_ = 0;  // since the last growth
  TimePoint halved_at_;
};

// At most so many SMPs per second, evenly spaced; up to a millisecond's worth may go at once, since
// no timer is finer than that.

class Pacer {
 public:
  /// 0: no limit.
  explicit Pacer(unsigned max_per_second)
      : interval_(max_per_second == 0 ? Duration{0}
                                      : Duration{std::chrono::seconds(1)} / max_per_second),
        burst_(std::max(Duration{0}, Duration{std::chrono::milliseconds(1)} - interval_)) {}

  /// The earliest time for the next SMP; now or earlier: at once.
  [[nodiscard]] TimePoint next() const { return next_; }

  void on_sent(TimePoint now) {
    if (interval_ > Duration{0}) next_ = std::max(next_, now + -burst_) + interval_;
  }

 private:
  Duration interval_;
  Duration burst_;
  TimePoint next_;
};

// Which SMPs are lost, before their timeout says so. A timeout must cover the slowest agent; that
// others which left clearly later have their answers already says more, and sooner. While no
// answer comes at all nothing is concluded, so a manager or a fabric that merely pauses costs no
// retries; only the oldest SMP may be asked again then, as a probe.

class LossSense {
 public:
  /// An attempt leaves that may be made again before its timeout.
  void on_injected(TimePoint now, std::uint32_t id) { tries_.push_back({now, id}); }

  /// An answer, and when exactly that attempt left.
  void on_answer(TimePoint injected, TimePoint now) {
    const Duration round_trip = now - injected;
    // A peak that fades: agents differ by orders of magnitude, and the fabric changes.
    slowest_ = std::max(round_trip, slowest_ - slowest_ / 1024);
    newest_answered_ = std::max(newest_answered_, injected);
    last_answer_ = now;
    heard_ = true;
  }

  /// An attempt that was overtaken; `live(id)`: it still waits for its answer.
  template <class Live>
  [[nodiscard]] std::optional<std::uint32_t> pop_overtaken(const Live& live) {
    forget_answered(live);
    if (tries_.empty() || tries_.front().injected + margin() >= newest_answered_) {
      return std::nullopt;
    }
    return pop_front();
  }

  /// When to ask for the oldest again if no answer comes until then; nothing while nothing is
  /// known of the fabric's pace, or after a probe that was not answered.
  template <class Live>
  [[nodiscard]] std::optional<TimePoint> probe_at(const Live& live) {
    forget_answered(live);
    if (tries_.empty() || !heard_) return std::nullopt;
    return std::max(last_answer_, tries_.front().injected) + kProbe + 2 * margin();
  }

  /// Requires: probe_at() said when.
  [[nodiscard]] std::uint32_t pop_probe() {
    heard_ = false;
    return pop_front();
  }

 private:
  static constexpr Duration kLeastMargin = std::chrono::milliseconds(2);
  static constexpr Duration kProbe = std::chrono::milliseconds(2);

  struct Try {
    TimePoint injected;
    std::uint32_t id;
  };

  [[nodiscard]] Duration margin() const { return std::max(kLeastMargin, 4 * slowest_); }

  template <class Live>
  void forget_answered(const Live& live) {
    while (!tries_.empty() && !live(tries_.front().id)) tries_.pop_front();
  }

  std::uint32_t pop_front() {
    const std::uint32_t id = tries_.front().id;
    tries_.pop_front();
    return id;
  }

  std::deque<Try> tries_;
  Duration slowest_{0};
  TimePoint newest_answered_;
  TimePoint last_answer_;
  bool heard_ = false;  // an answer since the last probe
};

}  // namespace smd

// Which SMPs are lost, before their timeout says so. A timeout must cover the slowest agent; that
// others which left clearly later have their answers already says more, and sooner. While no
// answer comes at all nothing is concluded, so a manager or a fabric that merely pauses costs no
// retries; only the oldest SMP may be asked again then, as a probe.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <deque>
#include <optional>

#include "smd/runtime/runtime.h"

namespace smd {

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

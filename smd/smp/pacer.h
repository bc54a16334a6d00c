// At most so many SMPs per second, evenly spaced; up to a millisecond's worth may go at once, since
// no timer is finer than that.
#pragma once

#include <algorithm>
#include <chrono>

#include "smd/runtime/runtime.h"

namespace smd {

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

}  // namespace smd

// How many SMPs may be on the wire: doubles per round trip until the first loss, then one more per
// window of answers; half after a loss.
#pragma once

#include "smd/runtime/runtime.h"

namespace smd {

class SmpWindow {
 public:
  /// Requires: 1 <= min <= start <= max.
  SmpWindow(unsigned min, unsigned start, unsigned max) : min_(min), max_(max), size_(start) {}

  [[nodiscard]] unsigned size() const { return size_; }

  /// An answer to the latest attempt, in time, while the window was full. Answers that came while
  /// nobody was held back say nothing about the room there is.
  void on_answer();

  /// A SMP injected at `injected` got no answer by `now`. What was injected before the last
  /// halving was lost to the same crowd and does not count again.
  void on_loss(TimePoint injected, TimePoint now);

 private:
  unsigned min_;
  unsigned max_;
  unsigned size_;
  unsigned answers_ = 0;  // since the last growth
  bool lost_ = false;
  TimePoint halved_at_;
};

}  // namespace smd

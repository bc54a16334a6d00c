// How many SMPs may be on the wire: doubles per round trip until the first loss; a loss halves it.
// It learns what the fabric takes: from a loss on it doubles only up to three quarters of the size
// that was too much, and beyond that feels its way one by one, more slowly each time that it runs
// into the same wall, since every collision costs far more than a slightly larger window gains.
#pragma once

#include "smd/runtime/runtime.h"

namespace smd {

class SmpWindow {
 public:
  /// Requires: 1 <= min <= start <= max.
  SmpWindow(unsigned min, unsigned start, unsigned max)
      : min_(min), max_(max), size_(start), known_good_(max) {}

  [[nodiscard]] unsigned size() const { return size_; }

  /// An answer to the latest attempt, in time, while the window was full. Answers that came while
  /// nobody was held back say nothing about the room there is.
  void on_answer();

  /// A SMP injected at `injected` as one of `crowd` on the wire is lost, as is known `now`. What
  /// was injected before the last halving was lost to the same crowd and does not count again.
  void on_loss(TimePoint injected, TimePoint now, unsigned crowd);

 private:
  unsigned min_;
  unsigned max_;
  unsigned size_;
  unsigned known_good_;   // doubling ends here
  unsigned wall_ = 0;     // the size of the last loss; 0: none yet
  unsigned caution_ = 0;  // windows of answers per step beyond known_good_
  unsigned answers_ = 0;  // since the last growth
  TimePoint halved_at_;
};

}  // namespace smd

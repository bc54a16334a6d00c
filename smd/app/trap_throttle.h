// A source that reports again and again is listened to at a bounded rate, so that one flapping
// cable cannot keep the manager from everything else. Nothing is lost: what is held back rings
// when its time has come.
#pragma once

#include <algorithm>
#include <map>

#include "smd/ib/types.h"
#include "smd/runtime/runtime.h"

namespace smd::app {

class TrapThrottle {
 public:
  /// So many reports in a row are served at once; after that one per kRefill.
  static constexpr unsigned kBurst = 10;
  static constexpr Duration kRefill = std::chrono::seconds(2);

  /// How long a report from `source` has to wait; 0 when it may be served now, which uses up one of
  /// its turns.
  Duration take(Lid source, TimePoint now) {
    // Time is counted in turns: a turn used moves `until` ahead, and it may be ahead of now by all
    // turns but one.
    TimePoint& until = until_[source];
    const TimePoint from = std::max(until, now);
    const Duration ahead = from - now;
    if (ahead > (kBurst - 1) * kRefill) return ahead - (kBurst - 1) * kRefill;
    until = from + kRefill;
    return Duration{0};
  }

 private:
  std::map<Lid, TimePoint> until_;
};

}  // namespace smd::app

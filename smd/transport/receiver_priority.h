// The thread that receives MADs, and answers what it can at once, goes ahead of threads that
// compute: on a busy machine it would wait for up to a tick of the kernel, 4 ms, each time it is
// woken. It takes the lowest real-time priority, for a bounded share of a processor, so that a host
// that floods does not keep the processor from the event loop; beyond the share it is a thread like
// any other, with short slices.
//
// Sources: sched(7), sched_setattr(2). Without the right to it (CAP_SYS_NICE, or LimitRTPRIO= of
// systemd) there are short slices alone, and those with Linux 6.12 and later.
#pragma once

#include "smd/runtime/runtime.h"

namespace smd {

/// Processor time that may be spent ahead of others: so much at once, then a fifth of what passes.
class RealTimeShare {
 public:
  static constexpr Duration kAtOnce = std::chrono::milliseconds(20);
  static constexpr unsigned kOneOf = 5;

  /// `now`: of a clock that goes on by itself; `used`: processor time of the thread so far. True:
  /// it may go ahead until it is asked again; once it may not, half of kAtOnce has to come
  /// together.
  bool update(Duration now, Duration used);

 private:
  Duration left_ = kAtOnce;
  Duration now_{}, used_{};  // when last asked
  bool ahead_ = true;
  bool asked_ = false;
};

/// Of the thread that makes it, and on that thread alone.
class ReceiverPriority {
 public:
  ReceiverPriority();

  /// MADs were taken, or none came for a while.
  void note(std::size_t mads);

  /// As note() does now and then.
  void update(Duration now, Duration used);

 private:
  bool allowed_ = false;  // a real-time priority
  bool ahead_ = false;
  std::size_t mads_ = 0;  // since the last update
  RealTimeShare share_;
};

/// The calling thread waits less for threads that compute: Linux 6.12 and later (slices of
/// SCHED_OTHER); elsewhere nothing changes.
void ask_for_short_slices();

}  // namespace smd

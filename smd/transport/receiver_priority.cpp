#include "smd/transport/receiver_priority.h"

#include <sched.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>

namespace smd {
namespace {

// What a thread that receives or answers takes of a processor at a time.
constexpr std::uint64_t kShortSliceNs = 100'000;

// MADs between two looks at the clocks, which cost as much as a tenth of an answer.
constexpr std::size_t kMadsBetween = 64;

constexpr std::uint64_t kResetOnFork = 1;  // SCHED_FLAG_RESET_ON_FORK

/// As sched_setattr(2) has it: the header that defines it cannot be read beside <sched.h>.
struct ThreadAttributes {
  std::uint32_t size;
  std::uint32_t policy;
  std::uint64_t flags;
  std::int32_t nice;
  std::uint32_t priority;
  std::uint64_t runtime, deadline, period;
};

/// False: whoever started us has chosen how its threads run.
bool read_attributes(ThreadAttributes& attributes) {
  return ::syscall(SYS_sched_getattr, 0, &attributes, sizeof attributes, 0) == 0 &&
         attributes.policy == SCHED_OTHER;
}

bool set_attributes(const ThreadAttributes& attributes) {
  return ::syscall(SYS_sched_setattr, 0, &attributes, 0) == 0;
}

bool go_ahead() {
  return set_attributes(
      {.size = sizeof(ThreadAttributes),
       .policy = SCHED_FIFO,
       .flags = kResetOnFork,
       .nice = 0,
       .priority = static_cast<std::uint32_t>(::sched_get_priority_min(SCHED_FIFO)),
       .runtime = 0,
       .deadline = 0,
       .period = 0});
}

/// The flag stays: to drop it takes a right that LimitRTPRIO= does not give.
void go_beside() {
  set_attributes({.size = sizeof(ThreadAttributes),
                  .policy = SCHED_OTHER,
                  .flags = kResetOnFork,
                  .nice = 0,
                  .priority = 0,
                  .runtime = kShortSliceNs,
                  .deadline = 0,
                  .period = 0});
}

Duration read_clock(clockid_t clock) {
  timespec time{};
  ::clock_gettime(clock, &time);
  return std::chrono::seconds(time.tv_sec) + std::chrono::nanoseconds(time.tv_nsec);
}

}  // namespace

bool RealTimeShare::update(Duration now, Duration used) {
  if (asked_) {
    left_ += (now - now_) / kOneOf;
    if (ahead_) left_ -= used - used_;
    left_ = std::clamp(left_, -kAtOnce, kAtOnce);
  }
  asked_ = true;
  now_ = now;
  used_ = used;
  ahead_ = left_ >= (ahead_ ? Duration{1} : kAtOnce / 2);
  return ahead_;
}

ReceiverPriority::ReceiverPriority() {
  ThreadAttributes attributes{};
  if (!read_attributes(attributes)) return;
  allowed_ = ahead_ = attributes.nice == 0 && go_ahead();
  if (!allowed_) ask_for_short_slices();
}

void ReceiverPriority::note(std::size_t mads) {
  mads_ += mads;
  if (!allowed_ || (mads != 0 && mads_ < kMadsBetween)) return;
  update(read_clock(CLOCK_MONOTONIC), read_clock(CLOCK_THREAD_CPUTIME_ID));
}

void ReceiverPriority::update(Duration now, Duration used) {
  mads_ = 0;
  if (!allowed_ || share_.update(now, used) == ahead_) return;
  ahead_ = !ahead_;
  if (!ahead_) {
    go_beside();
  } else if (!go_ahead()) {
    allowed_ = ahead_ = false;
  }
}

void ask_for_short_slices() {
  ThreadAttributes attributes{};
  if (!read_attributes(attributes)) return;
  attributes.runtime = kShortSliceNs;
  set_attributes(attributes);
}

}  // namespace smd

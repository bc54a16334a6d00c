// Waiting for something that another process does. Tests within one process have no use for it.
//
// Limits are those of an idle machine. Where others have their share of the processors, whoever
// reaches a limit waits as much longer as things take longer there.
#pragma once

#include <time.h>

#include <algorithm>
#include <chrono>
#include <thread>

namespace smd::test {

/// How many times longer than on an idle machine it takes now to be woken and to compute; at least
/// 1. Takes some 40 ms there.
inline double slowness() {
  constexpr int kRounds = 20;
  constexpr auto kPart = std::chrono::milliseconds(1);
  const auto own_time = [] {
    timespec at{};
    ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &at);
    return std::chrono::seconds(at.tv_sec) + std::chrono::nanoseconds(at.tv_nsec);
  };
  const auto began = std::chrono::steady_clock::now();
  for (int i = 0; i < kRounds; ++i) {
    std::this_thread::sleep_for(kPart);
    for (const auto end = own_time() + kPart; own_time() < end;) {
    }
  }
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - began;
  return std::max(1.0, took / (2 * kRounds * kPart));
}

/// A limit from now on that is put off once, when it is reached, on a machine that is not idle.
/// Less than a second is no limit but a pause.
class Limit {
 public:
  explicit Limit(std::chrono::milliseconds limit)
      : began_(std::chrono::steady_clock::now()),
        end_(began_ + limit),
        put_off_(limit < std::chrono::seconds(1)) {}

  [[nodiscard]] bool reached() {
    if (std::chrono::steady_clock::now() < end_) return false;
    if (put_off_) return true;
    put_off_ = true;
    end_ = began_ + std::chrono::duration_cast<std::chrono::steady_clock::duration>(
                        (end_ - began_) * slowness());
    return std::chrono::steady_clock::now() >= end_;
  }

 private:
  std::chrono::steady_clock::time_point began_;
  std::chrono::steady_clock::time_point end_;
  bool put_off_;
};

/// Asks every few milliseconds; false when `holds` was never true up to the limit.
template <class Condition>
bool wait_until(Condition&& holds, std::chrono::milliseconds limit) {
  Limit end(limit);
  while (!holds()) {
    if (end.reached()) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  return true;
}

}  // namespace smd::test

#include "tests/bench/sa/arrivals.h"

#include <time.h>

#include <utility>

namespace smd::bench {

void Arrivals::push(Arrival arrival) {
  {
    const std::lock_guard lock(mutex_);
    queue_.push_back(std::move(arrival));
    ++size_;
  }
  wake();
}

bool Arrivals::is_empty() { return size_ == 0; }

bool Arrivals::pop(Arrival& arrival) {
  if (size_ == 0) return false;
  const std::lock_guard lock(mutex_);
  if (queue_.empty()) return false;
  arrival = std::move(queue_.front());
  queue_.pop_front();
  --size_;
  return true;
}

void Arrivals::sleep(int timeout_ms) {
  if (timeout_ms < 0) {
    ::sem_wait(&wake_);
    return;
  }
  timespec until{};
  clock_gettime(CLOCK_MONOTONIC, &until);
  until.tv_sec += timeout_ms / 1000;
  until.tv_nsec += (timeout_ms % 1000) * 1'000'000L;
  if (until.tv_nsec >= 1'000'000'000) {
    until.tv_nsec -= 1'000'000'000;
    ++until.tv_sec;
  }
  ::sem_clockwait(&wake_, CLOCK_MONOTONIC, &until);
}

}  // namespace smd::bench

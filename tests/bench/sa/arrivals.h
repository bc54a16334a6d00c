// MADs from the port below, and the one thread that waits for them or for questions.
#pragma once

#include <semaphore.h>

#include <atomic>
#include <deque>
#include <mutex>
#include <vector>

namespace smd::bench {

struct Arrival {
  std::vector<std::byte> umad;
  int length = 0;
  int agent = 0;
};

class Arrivals {
 public:
  Arrivals() { ::sem_init(&wake_, 0, 0); }

  ~Arrivals() { ::sem_destroy(&wake_); }

  Arrivals(const Arrivals&) = delete;

  void push(Arrival arrival);

  [[nodiscard]] bool pop(Arrival& arrival);

  /// Something is there for the one that waits.
  void wake() {
    if (waiting_.exchange(false)) ::sem_post(&wake_);
  }

  /// Until wake(), for at most so long; below 0: for ever. `is_there` is asked once more before. It
  /// is a cancellation point: OpenSM ends its receiving thread so.
  template <class IsThere>
  void wait(int timeout_ms, IsThere is_there) {
    waiting_ = true;
    if (is_there() || !is_empty()) {
      waiting_ = false;
      return;
    }
    sleep(timeout_ms);
    waiting_ = false;
  }

 private:
  [[nodiscard]] bool is_empty();
  void sleep(int timeout_ms);

  std::mutex mutex_;
  std::deque<Arrival> queue_;
  std::atomic<std::size_t> size_ = 0;
  std::atomic<bool> waiting_ = false;
  sem_t wake_{};
};

}  // namespace smd::bench

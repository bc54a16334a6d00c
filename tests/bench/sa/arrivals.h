// MADs from the port below, and the one thread that waits for them or for questions.
#pragma once

#include <array>
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
  Arrivals();
  ~Arrivals();

  Arrivals(const Arrivals&) = delete;

  void push(Arrival arrival);

  [[nodiscard]] bool pop(Arrival& arrival);

  /// Something is there for the one that waits.
  void wake() {
    if (waiting_.exchange(false)) rouse();
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
  void rouse();
  void sleep(int timeout_ms);

  std::mutex mutex_;
  std::deque<Arrival> queue_;
  std::atomic<std::size_t> size_ = 0;
  std::atomic<bool> waiting_ = false;

  // Whoever writes to a pipe says that it is about to wait, so the kernel may run the reader where
  // the writer is. After an interrupt of an adapter the reader would be run where that came in; a
  // semaphore leaves it behind the thread that has its processor, for up to a tick.
  std::array<int, 2> pipe_{};
};

}  // namespace smd::bench

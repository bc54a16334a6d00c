#include "tests/bench/sa/arrivals.h"

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <utility>

namespace smd::bench {

Arrivals::Arrivals() {
  if (::pipe2(pipe_.data(), O_NONBLOCK | O_CLOEXEC) != 0) std::abort();
}

Arrivals::~Arrivals() {
  for (const int fd : pipe_) ::close(fd);
}

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

void Arrivals::rouse() {
  const char byte = 0;
  if (::write(pipe_[1], &byte, 1) < 0 && errno != EAGAIN) std::abort();
}

void Arrivals::sleep(int timeout_ms) {
  pollfd wait{.fd = pipe_[0], .events = POLLIN, .revents = 0};
  ::poll(&wait, 1, timeout_ms);
  std::array<char, 64> bytes{};
  const auto size = static_cast<ssize_t>(bytes.size());
  while (::read(pipe_[0], bytes.data(), bytes.size()) == size) {
  }
}

}  // namespace smd::bench

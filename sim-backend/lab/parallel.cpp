#include "sim-backend/lab/parallel.h"

#include <algorithm>
#include <atomic>
#include <thread>

namespace smd::sim {

void run_all(unsigned jobs, std::size_t count, const std::function<void(std::size_t)>& run) {
  std::atomic<std::size_t> next{0};
  const auto work = [&]() noexcept {
    for (std::size_t i = next++; i < count; i = next++) run(i);
  };
  std::vector<std::thread> threads;
  const std::size_t helpers = std::min<std::size_t>(jobs == 0 ? 0 : jobs - 1, count);
  for (std::size_t t = 0; t < helpers; ++t) threads.emplace_back(work);
  work();
  for (std::thread& thread : threads) thread.join();
}

}  // namespace smd::sim

#include "sim-backend/kernel/thread_team.h"

#include <atomic>
#include <barrier>
#include <limits>
#include <thread>
#include <vector>

namespace smd::sim {
namespace {

constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();

}  // namespace

struct ThreadTeam::Meeting {
  /// Runs when all have come, before any goes on.
  struct Conclude {
    Meeting* meeting;

    void operator()() const noexcept {
      meeting->agreed = meeting->brought.exchange(kMost, std::memory_order_relaxed);
    }
  };

  explicit Meeting(unsigned count) : barrier(count, Conclude{this}) {}

  std::atomic<std::int64_t> brought{kMost};
  std::int64_t agreed = kMost;
  std::barrier<Conclude> barrier;
};

ThreadTeam::ThreadTeam() = default;
ThreadTeam::~ThreadTeam() = default;

void ThreadTeam::run(unsigned count, const std::function<void(unsigned)>& work) {
  meeting_ = std::make_unique<Meeting>(count);
  std::vector<std::jthread> others;
  for (unsigned i = 1; i < count; ++i) others.emplace_back([&work, i] { work(i); });
  work(0);
}

std::int64_t ThreadTeam::least(std::int64_t own) {
  Meeting& here = *meeting_;
  std::int64_t known = here.brought.load(std::memory_order_relaxed);
  while (own < known && !here.brought.compare_exchange_weak(known, own)) {
  }
  here.barrier.arrive_and_wait();
  return here.agreed;
}

}  // namespace smd::sim

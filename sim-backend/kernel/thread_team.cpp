#include "sim-backend/kernel/thread_team.h"

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <limits>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

namespace smd::sim {
namespace {

constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();

/// Of whoever waits, before he sleeps: some tens of microseconds, as long as waking him would take.
constexpr int kLooks = 2000;

}  // namespace

/// A barrier that never gives its processor away in between, as std::barrier does: beside other
/// work on all processors each time would cost a time slice.
struct ThreadTeam::Meeting {
  explicit Meeting(unsigned members) : count(members) {}

  const unsigned count;
  std::mutex mutex;
  std::condition_variable all_came;
  unsigned came = 0;
  std::int64_t brought = kMost;
  std::int64_t agreed = kMost;  // until all have come again
  std::atomic<std::uint64_t> times{0};
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
  std::unique_lock lock(here.mutex);
  const std::uint64_t before = here.times.load(std::memory_order_relaxed);
  here.brought = std::min(here.brought, own);
  if (++here.came == here.count) {
    here.agreed = std::exchange(here.brought, kMost);
    here.came = 0;
    here.times.store(before + 1, std::memory_order_release);
    lock.unlock();
    here.all_came.notify_all();
    return here.agreed;
  }
  lock.unlock();
  const auto have_come = [&] { return here.times.load(std::memory_order_acquire) != before; };
  for (int look = 0; look < kLooks; ++look) {
    if (have_come()) return here.agreed;
#if defined(__x86_64__)
    __builtin_ia32_pause();
#endif
  }
  lock.lock();
  here.all_came.wait(lock, have_come);
  return here.agreed;
}

}  // namespace smd::sim

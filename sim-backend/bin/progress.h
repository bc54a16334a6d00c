// How far a command is, and when it ends, on standard error while it runs. For people: nothing of
// it is in a result.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace smd::sim {

/// "3 of 8 runs, 41 %, at most 12 s left"; without the estimate while nothing is known.
[[nodiscard]] std::string print_progress(const std::vector<double>& shares,
                                         std::chrono::duration<double> elapsed);

class Progress {
 public:
  /// `runs` that begin at 0. Writes where standard error is a terminal, or it was asked for.
  Progress(std::size_t runs, bool asked);
  ~Progress();
  Progress(const Progress&) = delete;

  /// From any thread: this share (0 to 1) of a run is done.
  void set(std::size_t run, double share) { shares_[run].store(share, std::memory_order_relaxed); }

 private:
  void show() const;

  std::vector<std::atomic<double>> shares_;
  std::chrono::steady_clock::time_point began_;
  bool terminal_;
  bool over_ = false;
  std::mutex mutex_;  // of over_
  std::condition_variable changed_;
  std::thread writer_;
};

}  // namespace smd::sim

// A program run for its time and its memory, which the kernel measures: the same rule for anybody's
// program.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace smd::bench {

/// Both sides of a comparison read this clock, also from within another process.
using Clock = std::chrono::steady_clock;

using Environment = std::vector<std::pair<std::string, std::string>>;

/// The environment with one more library to preload, ahead of the others; without any if empty.
[[nodiscard]] Environment ahead_of(const std::string& library, Environment env);

struct Ended {
  int exit_code = -1;  // 128 + signal for a violent end
  Clock::time_point at;
  double peak_rss_mb = 0;
  double cpu_ms = 0;  // user and system
};

class TimedProcess {
 public:
  struct Options {
    std::vector<std::string> argv;
    Environment env;            // added to our own
    std::filesystem::path out;  // stdout
    std::filesystem::path err;  // stderr
  };

  explicit TimedProcess(const Options& options);

  /// Kills it when it still runs.
  ~TimedProcess();
  TimedProcess(const TimedProcess&) = delete;

  [[nodiscard]] Clock::time_point started() const { return started_; }

  /// Blocks until it ends; kills it at the limit.
  Ended wait(std::chrono::seconds limit);

  /// SIGTERM, then the same.
  Ended terminate(std::chrono::seconds limit);

  /// Requires: it runs.
  void signal(int number) const;

  [[nodiscard]] pid_t pid() const { return pid_; }

  /// What ended it, when it has ended.
  std::optional<Ended> poll();

 private:
  pid_t pid_ = -1;
  Clock::time_point started_;
  std::optional<Ended> ended_;
};

}  // namespace smd::bench

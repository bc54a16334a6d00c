// Who is told what happens: systemd, and a program of the site.
#pragma once

#include <cstddef>
#include <deque>
#include <optional>
#include <string>

#include "smd/base/result.h"
#include "smd/runtime/runtime.h"

namespace smd {

/// Ready, reloading, stopping, one line of status, still alive. Without systemd (NOTIFY_SOCKET is
/// not set) every call does nothing.
class ServiceNotify {
 public:
  void ready();

  /// Call ready() when it is over, also when it failed.
  void reloading();

  void stopping();

  /// One line for `systemctl status`.
  void status(const std::string& line);

  /// "Still alive"; due within each watchdog_interval().
  void watchdog();

  /// WatchdogSec of the unit; nothing when no watchdog listens.
  [[nodiscard]] std::optional<Duration> watchdog_interval() const;
};

/// Runs `program` with `input` on its standard input, and waits: for `limit` at most, then it is
/// killed with what it started. Its output goes where ours goes. Io: it cannot be run, or ended
/// with another code than 0; Timeout.
[[nodiscard]] Result<void> run_with_input(const std::string& program,
                                          const std::string& input,
                                          Duration limit);

/// The event of a program that could not be told; nobody is told of it.
inline constexpr const char* kEventProgram = "event.program";

/// The program that is run for each event, off the loop, one at a time.
class EventProgram {
 public:
  static constexpr std::size_t kMostWaiting = 100;
  static constexpr std::size_t kMostWaitingOfOne = 10;  // so that none crowds out the others
  static constexpr Duration kLimit = std::chrono::seconds(5);

  explicit EventProgram(Runtime& runtime) : runtime_(runtime) {}

  /// Where too many wait, in all or of that name, it is not run, which report_left_out() says.
  void run(std::string program, std::string event, std::string input);

  /// To the log, what was not run since the last time. Whoever runs for long calls it now and then.
  void report_left_out();

 private:
  struct Run {
    std::string program;
    std::string event;
    std::string input;
  };

  void next();

  Runtime& runtime_;
  std::deque<Run> waiting_;
  bool busy_ = false;
  unsigned long left_out_ = 0;
  OffloadOwner work_;
};

}  // namespace smd

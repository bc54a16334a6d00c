// Events, not prose: a stable name to grep, then key=value pairs.
//   error  a human must act; fails any simulation test
//   warn   degraded
//   info   one line per state change or sweep
//   debug  per SMP
// Repeated events are rate-limited per event name by the sink; the suppressed count is printed with
// the next one.
#pragma once

#include <fmt/core.h>

#include <string>
#include <string_view>
#include <utility>

#include "smd/base/result.h"

namespace smd::log {

enum class Level { Debug, Info, Warn, Error, Off };

/// One line to the sink. `event` must outlive the process (a string literal).
void write(Level level, std::string_view event, std::string text);

[[nodiscard]] bool enabled(Level level);

void set_level(Level level);

[[nodiscard]] Result<Level> parse_level(std::string_view name);

/// Lines of `level` or above written so far; tests use it as an oracle.
[[nodiscard]] unsigned long count(Level level);

/// Where lines go. Before this is called they go to stderr.
///   "stderr", "syslog", or a file path
Result<void> open_sink(const std::string& sink);

template <class... Args>
void line(Level level, std::string_view event, fmt::format_string<Args...> f, Args&&... args) {
  if (enabled(level)) write(level, event, fmt::format(f, std::forward<Args>(args)...));
}

template <class... Args>
void debug(std::string_view event, fmt::format_string<Args...> f, Args&&... args) {
  line(Level::Debug, event, f, std::forward<Args>(args)...);
}

template <class... Args>
void info(std::string_view event, fmt::format_string<Args...> f, Args&&... args) {
  line(Level::Info, event, f, std::forward<Args>(args)...);
}

template <class... Args>
void warn(std::string_view event, fmt::format_string<Args...> f, Args&&... args) {
  line(Level::Warn, event, f, std::forward<Args>(args)...);
}

template <class... Args>
void error(std::string_view event, fmt::format_string<Args...> f, Args&&... args) {
  line(Level::Error, event, f, std::forward<Args>(args)...);
}

}  // namespace smd::log

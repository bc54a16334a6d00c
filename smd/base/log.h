// Events, not prose: a stable name to grep, then key=value pairs.
//   error  a human must act; fails any simulation test
//   warn   degraded
//   info   one line per state change or sweep
//   debug  per SMP
// Repeated events are rate-limited per event name by the sink. What was left out is always said, in
// a line `log.suppressed` of the same level: before the next line of the event, when its period is
// over, and when the process ends, whichever comes first.
#pragma once

#include <fmt/core.h>

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "smd/base/result.h"

namespace smd::log {

enum class Level { Debug, Info, Warn, Error, Off };

/// At most 50 lines of one event in 10 s; debug lines are not limited. Knows no clock.
class RateLimit {
 public:
  using Time = std::chrono::steady_clock::time_point;

  static constexpr unsigned kBurst = 50;
  static constexpr std::chrono::seconds kPeriod{10};

  /// Lines of one event that were left out in one period.
  struct Suppressed {
    std::string event;
    Level level = Level::Info;  // the highest of them
    unsigned long lines = 0;
  };

  struct Verdict {
    bool written = true;
    std::optional<Suppressed> before;  // to be said first
  };

  [[nodiscard]] Verdict admit(Level level, std::string_view event, Time now);

  /// What was left out in periods that are over, or in all; each is said once. The earliest period
  /// first, then by name.
  [[nodiscard]] std::vector<Suppressed> take_suppressed(Time now, bool all);

 private:
  struct Event {
    Time since{};
    unsigned lines = 0;
    unsigned long suppressed = 0;
    Level highest = Level::Debug;  // of those suppressed
  };

  using Events = std::map<std::string, Event, std::less<>>;

  static Suppressed take(Events::iterator event);

  Events events_;
};

/// One line to the sink. `event` must outlive the process (a string literal).
void write(Level level, std::string_view event, std::string text);

[[nodiscard]] bool enabled(Level level);

void set_level(Level level);

[[nodiscard]] Result<Level> parse_level(std::string_view name);

/// A line as it was written.
struct Entry {
  std::uint64_t number = 0;  // from 1, in the order of writing
  std::string time;          // UTC, as 2026-11-26T10:52:00.123Z
  Level level = Level::Info;
  std::string event;
  std::string text;
};

/// How many of the latest lines of Info and above are kept.
inline constexpr std::size_t kKeptEntries = 1000;

/// Those kept that come after line `number`, the oldest first.
[[nodiscard]] std::vector<Entry> entries_after(std::uint64_t number);

/// As options and commands call it.
[[nodiscard]] std::string_view name_of(Level level);

/// Says what was left out in periods that are over, and what a file did not take. Whoever runs for
/// long calls it now and then.
void report_suppressed();

/// Why the file does not take lines, which go to stderr meanwhile; empty: it took the last one.
[[nodiscard]] std::string write_trouble();

/// Lines of `level` or above written or left out so far; tests use it as an oracle.
[[nodiscard]] unsigned long count(Level level);

/// Where lines go. Before this is called they go to stderr.
///   "stderr", "syslog", or a file path
/// Io: the file cannot be opened; lines go where they went.
Result<void> open_sink(const std::string& sink);

/// What syslog calls this program, from the next open_sink() on; "smd" before.
void set_ident(std::string ident);

/// The file again by its name, as after somebody has moved it away (logrotate); stderr and syslog
/// stay as they are. Each line is in the old file or in the new one. Io: as above.
Result<void> reopen_sink();

/// As it stands between quotes: its own quotes and backslashes follow a backslash.
[[nodiscard]] std::string escape(std::string_view text);

/// Bit I: argument I of `format` stands between quotes, as in `why="{}"`. Of the first 64, which
/// are taken in their order.
[[nodiscard]] std::uint64_t find_quoted(std::string_view format);

/// Texts of others, such as names of nodes, end no quotes.
template <class T>
decltype(auto) escape_if(bool quoted, const T& value) {
  if constexpr (std::is_convertible_v<const T&, std::string_view>)
    return quoted ? escape(value) : std::string(std::string_view(value));
  else
    return (value);
}

template <class... Args>
void line(Level level, std::string_view event, fmt::format_string<Args...> f, Args&&... args) {
  if (!enabled(level)) return;
  const fmt::string_view format = f;
  const std::uint64_t quoted = find_quoted({format.data(), format.size()});
  const auto print = [&]<std::size_t... I>(std::index_sequence<I...>) {
    return fmt::format(fmt::runtime(format), escape_if((quoted >> I & 1U) != 0, args)...);
  };
  write(level, event, print(std::index_sequence_for<Args...>()));
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

#include "smd/base/log.h"

#include <spdlog/sinks/basic_file_sink.h>
#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/sinks/syslog_sink.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <ctime>
#include <deque>
#include <memory>
#include <mutex>

#include "smd/base/text.h"

namespace smd::log {
namespace {

constexpr std::size_t kLevels = 5;

spdlog::level::level_enum to_spdlog(Level level) {
  switch (level) {
    case Level::Debug:
      return spdlog::level::debug;
    case Level::Info:
      return spdlog::level::info;
    case Level::Warn:
      return spdlog::level::warn;
    case Level::Error:
      return spdlog::level::err;
    case Level::Off:
      break;
  }
  return spdlog::level::off;
}

std::string utc_now() {
  timespec now{};
  clock_gettime(CLOCK_REALTIME, &now);
  std::tm utc{};
  gmtime_r(&now.tv_sec, &utc);
  return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}.{:03}Z",
                     utc.tm_year + 1900,
                     utc.tm_mon + 1,
                     utc.tm_mday,
                     utc.tm_hour,
                     utc.tm_min,
                     utc.tm_sec,
                     now.tv_nsec / 1000000);
}

struct State {
  std::mutex mutex;
  std::shared_ptr<spdlog::logger> logger = make(std::make_shared<spdlog::sinks::stderr_sink_mt>());
  std::string file;           // that lines go to; "": they go elsewhere
  std::string ident = "smd";  // for syslog
  RateLimit limit;
  std::deque<Entry> latest;
  std::uint64_t written = 0;

  State() = default;
  State(const State&) = delete;

  // The process ends.
  ~State() { report_suppressed(true); }

  void put(Level level, std::string_view event, std::string text) {
    logger->log(to_spdlog(level), "{} {} {}", name_of(level), event, text);
    if (level == Level::Debug) return;
    if (latest.size() == kKeptEntries) latest.pop_front();
    latest.push_back({.number = ++written,
                      .time = utc_now(),
                      .level = level,
                      .event = std::string(event),
                      .text = std::move(text)});
  }

  void report(const RateLimit::Suppressed& suppressed) {
    put(suppressed.level,
        "log.suppressed",
        fmt::format("event={} lines={}", suppressed.event, suppressed.lines));
  }

  void report_suppressed(bool all) {
    for (const RateLimit::Suppressed& each :
         limit.take_suppressed(std::chrono::steady_clock::now(), all))
      report(each);
  }

  static std::shared_ptr<spdlog::logger> make(spdlog::sink_ptr sink) {
    auto logger = std::make_shared<spdlog::logger>("smd", std::move(sink));
    logger->set_level(spdlog::level::trace);
    logger->flush_on(spdlog::level::info);
    logger->set_pattern("%Y-%m-%dT%H:%M:%S.%e %v");
    return logger;
  }
};

State& state() {
  static State s;
  return s;
}

std::atomic<Level> g_level{Level::Info};
std::array<std::atomic<unsigned long>, kLevels> g_count{};

}  // namespace

std::string_view name_of(Level level) {
  switch (level) {
    case Level::Debug:
      return "debug";
    case Level::Info:
      return "info";
    case Level::Warn:
      return "warn";
    case Level::Error:
      return "error";
    case Level::Off:
      break;
  }
  return "off";
}

RateLimit::Suppressed RateLimit::take(Events::iterator event) {
  return {.event = event->first,
          .level = std::exchange(event->second.highest, Level::Debug),
          .lines = std::exchange(event->second.suppressed, 0)};
}

RateLimit::Verdict RateLimit::admit(Level level, std::string_view event, Time now) {
  Verdict verdict;
  if (level == Level::Debug) return verdict;
  auto at = events_.find(event);
  if (at == events_.end()) at = events_.emplace(std::string(event), Event{.since = now}).first;
  Event& limited = at->second;
  if (now - limited.since > kPeriod) {
    if (limited.suppressed > 0) verdict.before = take(at);
    limited.since = now;
    limited.lines = 0;
  }
  if (++limited.lines > kBurst) {
    ++limited.suppressed;
    limited.highest = std::max(limited.highest, level);
    verdict.written = false;
  }
  return verdict;
}

std::vector<RateLimit::Suppressed> RateLimit::take_suppressed(Time now, bool all) {
  std::vector<Events::iterator> due;
  for (auto at = events_.begin(); at != events_.end(); ++at) {
    if (at->second.suppressed > 0 && (all || now - at->second.since > kPeriod)) due.push_back(at);
  }
  std::ranges::stable_sort(due, {}, [](Events::iterator at) { return at->second.since; });
  std::vector<Suppressed> taken;
  for (const Events::iterator at : due) taken.push_back(take(at));
  return taken;
}

bool enabled(Level level) { return level >= g_level.load(std::memory_order_relaxed); }

void set_level(Level level) { g_level = level; }

unsigned long count(Level level) {
  unsigned long total = 0;
  for (std::size_t i = static_cast<std::size_t>(level); i < kLevels; ++i) total += g_count[i];
  return total;
}

void write(Level level, std::string_view event, std::string text) {
  ++g_count[static_cast<std::size_t>(level)];
  State& s = state();
  const std::lock_guard lock(s.mutex);
  const RateLimit::Verdict verdict = s.limit.admit(level, event, std::chrono::steady_clock::now());
  if (verdict.before) s.report(*verdict.before);
  if (verdict.written) s.put(level, event, printable(text));
}

std::vector<Entry> entries_after(std::uint64_t number) {
  State& s = state();
  const std::lock_guard lock(s.mutex);
  const auto first = std::ranges::upper_bound(s.latest, number, {}, &Entry::number);
  return {first, s.latest.end()};
}

void report_suppressed() {
  State& s = state();
  const std::lock_guard lock(s.mutex);
  s.report_suppressed(false);
}

Result<Level> parse_level(std::string_view name) {
  if (name == "debug") return Level::Debug;
  if (name == "info") return Level::Info;
  if (name == "warn") return Level::Warn;
  if (name == "warning") {
    warn("log.level", "level=warning; the word is warn, and this one goes with the next release");
    return Level::Warn;
  }
  if (name == "error") return Level::Error;
  if (name == "off") return Level::Off;
  return fail(Errc::Invalid,
              fmt::format("unknown log level '{}'; one of debug, info, warn, error, off", name));
}

Result<void> open_sink(const std::string& sink) {
  State& s = state();
  spdlog::sink_ptr target;
  std::string ident;
  {
    const std::lock_guard lock(s.mutex);
    ident = s.ident;
  }
  const bool is_file = sink != "stderr" && sink != "syslog";
  try {
    if (sink == "stderr") {
      target = std::make_shared<spdlog::sinks::stderr_sink_mt>();
    } else if (sink == "syslog") {
      target = std::make_shared<spdlog::sinks::syslog_sink_mt>(ident, 0, LOG_DAEMON, false);
    } else {
      target = std::make_shared<spdlog::sinks::basic_file_sink_mt>(sink);
    }
  } catch (const spdlog::spdlog_ex& e) {
    return fail(Errc::Io, fmt::format("cannot log to '{}': {}", sink, e.what()));
  }
  const std::lock_guard lock(s.mutex);
  s.logger = State::make(std::move(target));
  s.file = is_file ? sink : "";
  return {};
}

void set_ident(std::string ident) {
  State& s = state();
  const std::lock_guard lock(s.mutex);
  s.ident = std::move(ident);
}

Result<void> reopen_sink() {
  std::string file;
  {
    State& s = state();
    const std::lock_guard lock(s.mutex);
    file = s.file;
  }
  if (file.empty()) return {};
  return open_sink(file);
}

}  // namespace smd::log

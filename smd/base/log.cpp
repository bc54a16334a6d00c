#include "smd/base/log.h"

#include <spdlog/sinks/basic_file_sink.h>
#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/sinks/syslog_sink.h>
#include <spdlog/spdlog.h>

#include <array>
#include <atomic>
#include <chrono>
#include <map>
#include <memory>
#include <mutex>

#include "smd/base/printable.h"

namespace smd::log {
namespace {

constexpr std::size_t kLevels = 5;

/// At most `kBurst` lines of one event in `kPeriod`; debug lines are not limited.
constexpr unsigned kBurst = 50;
constexpr std::chrono::seconds kPeriod{10};

struct Limiter {
  std::chrono::steady_clock::time_point since{};
  unsigned lines = 0;
  unsigned long suppressed = 0;
};

struct State {
  std::mutex mutex;
  std::shared_ptr<spdlog::logger> logger = make(std::make_shared<spdlog::sinks::stderr_sink_mt>());
  std::map<std::string, Limiter, std::less<>> limiters;

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

/// As options and commands call it.
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

/// Returns how many lines were swallowed before this one, or -1 when this one is swallowed too.
long admit(State& s, Level level, std::string_view event) {
  if (level == Level::Debug) return 0;
  auto it = s.limiters.find(event);
  if (it == s.limiters.end()) it = s.limiters.emplace(std::string(event), Limiter{}).first;
  Limiter& limiter = it->second;
  const auto now = std::chrono::steady_clock::now();
  if (now - limiter.since > kPeriod) {
    limiter.since = now;
    limiter.lines = 0;
  }
  if (++limiter.lines > kBurst) {
    ++limiter.suppressed;
    return -1;
  }
  return static_cast<long>(std::exchange(limiter.suppressed, 0));
}

}  // namespace

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
  const long suppressed = admit(s, level, event);
  if (suppressed < 0) return;
  if (suppressed > 0) text += fmt::format(" suppressed={}", suppressed);
  s.logger->log(to_spdlog(level), "{} {} {}", name_of(level), event, printable(text));
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
  try {
    if (sink == "stderr") {
      target = std::make_shared<spdlog::sinks::stderr_sink_mt>();
    } else if (sink == "syslog") {
      target = std::make_shared<spdlog::sinks::syslog_sink_mt>("smd", 0, LOG_DAEMON, false);
    } else {
      target = std::make_shared<spdlog::sinks::basic_file_sink_mt>(sink);
    }
  } catch (const spdlog::spdlog_ex& e) {
    return fail(Errc::Io, fmt::format("cannot log to '{}': {}", sink, e.what()));
  }
  const std::lock_guard lock(s.mutex);
  s.logger = State::make(std::move(target));
  return {};
}

}  // namespace smd::log

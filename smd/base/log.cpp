#include "smd/base/log.h"

#include <fcntl.h>
#include <spdlog/details/os.h>
#include <spdlog/sinks/base_sink.h>
#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/sinks/syslog_sink.h>
#include <spdlog/spdlog.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <cstring>
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

/// What a file did not take.
struct WriteFault {
  std::string why;         // empty: it took the last that it was given
  unsigned long lost = 0;  // lines, until that is said
  bool on_stderr = true;   // they go there
};

/// Lines that a file does not take go to stderr. The first that it takes thereafter begins a line.
class FileSink final : public spdlog::sinks::base_sink<std::mutex> {
 public:
  /// `file` is open to append to; `fault` outlives this.
  FileSink(int file, WriteFault& fault) : file_(file), fault_(fault) {}

  FileSink(const FileSink&) = delete;

  ~FileSink() override {
    flush_();
    ::close(file_);
  }

 private:
  static constexpr std::size_t kMostHeld = 4096;

  void sink_it_(const spdlog::details::log_msg& message) override {
    spdlog::memory_buf_t line;
    formatter_->format(message, line);
    held_.append(line.data(), line.size());
    if (held_.size() >= kMostHeld) flush_();
  }

  void flush_() override {
    if (held_.empty()) return;
    if (is_torn_ && put("\n") == 1) is_torn_ = false;
    const std::size_t done = is_torn_ ? 0 : put(held_);
    if (done == held_.size()) {
      fault_.why.clear();
    } else {
      const std::string_view lost = since_line_begin(done);
      if (done > 0) is_torn_ = held_[done - 1] != '\n';
      fault_.lost += static_cast<unsigned long>(std::ranges::count(lost, '\n'));
      if (fault_.on_stderr) std::fwrite(lost.data(), 1, lost.size(), stderr);
    }
    held_.clear();
  }

  /// What is held, from the line on that was cut at `done`.
  [[nodiscard]] std::string_view since_line_begin(std::size_t done) const {
    const std::string_view held = held_;
    const std::size_t end = done == 0 ? std::string_view::npos : held.rfind('\n', done - 1);
    return held.substr(end == std::string_view::npos ? 0 : end + 1);
  }

  /// How much of it the file has taken.
  std::size_t put(std::string_view text) {
    std::size_t done = 0;
    while (done < text.size()) {
      const ssize_t taken = ::write(file_, text.data() + done, text.size() - done);
      if (taken > 0) {
        done += static_cast<std::size_t>(taken);
      } else if (taken == 0 || errno != EINTR) {
        fault_.why = taken == 0 ? "it takes nothing" : std::strerror(errno);
        break;
      }
    }
    return done;
  }

  int file_;
  WriteFault& fault_;
  std::string held_;
  bool is_torn_ = false;  // the file ends within a line
};

Result<spdlog::sink_ptr> open_file(const std::string& path, WriteFault& fault) {
  spdlog::details::os::create_dir(spdlog::details::os::dir_name(path));
  const int file = ::open(path.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0666);
  if (file < 0)
    return fail(Errc::Io, fmt::format("cannot log to '{}': {}", path, std::strerror(errno)));
  return std::make_shared<FileSink>(file, fault);
}

struct State {
  std::mutex mutex;
  WriteFault fault;
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
    const bool was_well = fault.why.empty();
    logger->log(to_spdlog(level), "{} {} {}", name_of(level), event, text);
    if (level != Level::Debug) remember(level, event, std::move(text));
    if (!was_well || fault.why.empty()) return;
    text = fmt::format("why=\"{}: {}\" instead=stderr", file, fault.why);
    make(std::make_shared<spdlog::sinks::stderr_sink_mt>())
        ->log(spdlog::level::err, "{} log.write {}", name_of(Level::Error), text);
    remember(Level::Error, "log.write", std::move(text));
  }

  void remember(Level level, std::string_view event, std::string text) {
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
    report_lost();
  }

  /// Also tries whether the file takes lines again, where nobody else writes any.
  void report_lost() {
    if (fault.lost == 0) return;
    logger->flush();
    const unsigned long lost = fault.lost;
    std::string text = fmt::format("lines={} instead=stderr", lost);
    fault.on_stderr = false;
    logger->log(to_spdlog(Level::Warn), "{} log.lost {}", name_of(Level::Warn), text);
    fault.on_stderr = true;
    fault.lost = fault.why.empty() ? 0 : lost;
    if (fault.why.empty()) remember(Level::Warn, "log.lost", std::move(text));
  }

  static std::shared_ptr<spdlog::logger> make(spdlog::sink_ptr sink) {
    auto logger = std::make_shared<spdlog::logger>("smd", std::move(sink));
    logger->set_level(spdlog::level::trace);
    logger->flush_on(spdlog::level::info);
    logger->set_pattern("%Y-%m-%dT%H:%M:%S.%e%z %v");
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

std::string escape(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    out += c;
  }
  return out;
}

std::uint64_t find_quoted(std::string_view format) {
  std::uint64_t out = 0;
  unsigned argument = 0;
  bool quoted = false;
  for (std::size_t i = 0; i < format.size(); ++i) {
    if (format[i] == '"') quoted = !quoted;
    if (format[i] != '{') continue;
    if (format.substr(i).starts_with("{{")) {
      ++i;
      continue;
    }
    if (quoted) out |= std::uint64_t{1} << argument;
    ++argument;
    i = format.find('}', i);
  }
  return out;
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

std::string write_trouble() {
  State& s = state();
  const std::lock_guard lock(s.mutex);
  return s.fault.why.empty() ? "" : fmt::format("{}: {}", s.file, s.fault.why);
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
      auto opened = open_file(sink, s.fault);
      if (!opened) return fail(opened.error().code, opened.error().context);
      target = std::move(*opened);
    }
  } catch (const spdlog::spdlog_ex& e) {
    return fail(Errc::Io, fmt::format("cannot log to '{}': {}", sink, e.what()));
  }
  const std::lock_guard lock(s.mutex);
  s.logger = State::make(std::move(target));
  s.file = is_file ? sink : "";
  s.fault.why.clear();
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

#include "smd/daemon/notifications.h"

#include <fmt/core.h>
#include <signal.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <systemd/sd-daemon.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <thread>
#include <utility>

#include "smd/base/log.h"
#include "smd/base/read_file.h"

namespace smd {
namespace {

// A service manager that is not there, or does not listen, is no reason to do anything else.
void tell(const std::string& message) { static_cast<void>(sd_notify(0, message.c_str())); }

}  // namespace

void ServiceNotify::ready() { tell("READY=1"); }

void ServiceNotify::reloading() {
  // systemd wants the clock to tell this reload from one before it.
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  const std::int64_t micros = now.tv_sec * std::int64_t{1000000} + now.tv_nsec / 1000;
  tell(fmt::format("RELOADING=1\nMONOTONIC_USEC={}", micros));
}

void ServiceNotify::stopping() { tell("STOPPING=1"); }

void ServiceNotify::status(const std::string& line) {
  std::string message = "STATUS=" + line;
  // A line end would start another assignment.
  std::ranges::replace(message, '\n', ' ');
  tell(message);
}

void ServiceNotify::watchdog() { tell("WATCHDOG=1"); }

std::optional<Duration> ServiceNotify::watchdog_interval() const {
  std::uint64_t micros = 0;
  if (sd_watchdog_enabled(0, &micros) <= 0) return std::nullopt;
  return std::chrono::microseconds(micros);
}

namespace {

Error io_error(const std::string& what, int number) {
  return {Errc::Io, fmt::format("{}: {}", what, std::strerror(number))};
}

/// Signals as a program expects them, a group of its own, and none of our files: somebody else who
/// holds the adapter's would keep it busy.
Result<pid_t> spawn(const std::string& program, int input) {
  posix_spawnattr_t how;
  posix_spawn_file_actions_t files;
  posix_spawnattr_init(&how);
  posix_spawn_file_actions_init(&files);
  sigset_t none, all;
  sigemptyset(&none);
  sigfillset(&all);
  posix_spawnattr_setsigmask(&how, &none);
  posix_spawnattr_setsigdefault(&how, &all);
  posix_spawnattr_setpgroup(&how, 0);
  posix_spawnattr_setflags(&how,
                           POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETPGROUP);
  posix_spawn_file_actions_adddup2(&files, input, STDIN_FILENO);
  posix_spawn_file_actions_addclosefrom_np(&files, STDERR_FILENO + 1);
  std::string name = program;
  char* arguments[] = {name.data(), nullptr};
  pid_t child = 0;
  const int failed = posix_spawn(&child, name.c_str(), &files, &how, arguments, environ);
  posix_spawn_file_actions_destroy(&files);
  posix_spawnattr_destroy(&how);
  if (failed != 0) return tl::unexpected(io_error(program, failed));
  return child;
}

}  // namespace

Result<void> run_with_input(const std::string& program, const std::string& input, Duration limit) {
  // A file in memory: a program that reads nothing holds nobody up.
  const Descriptor file(::memfd_create("event", MFD_CLOEXEC));
  if (file.get() < 0 ||
      ::write(file.get(), input.data(), input.size()) != static_cast<ssize_t>(input.size()) ||
      ::lseek(file.get(), 0, SEEK_SET) != 0)
    return tl::unexpected(io_error("memfd", errno));
  const auto child = spawn(program, file.get());
  if (!child) return tl::unexpected(child.error());
  const auto ms = std::chrono::duration_cast<std::chrono::milliseconds>(limit).count();
  const auto until = std::chrono::steady_clock::now() + limit;
  constexpr auto kPause = std::chrono::milliseconds(5);
  int status = 0;
  pid_t ended = 0;
  while ((ended = ::waitpid(*child, &status, WNOHANG)) == 0 &&
         std::chrono::steady_clock::now() < until)
    std::this_thread::sleep_for(kPause);
  const bool late = ended == 0;
  if (late) {
    ::kill(-*child, SIGKILL);
    while (::waitpid(*child, &status, 0) < 0 && errno == EINTR) {
    }
  }
  if (late) return fail(Errc::Timeout, fmt::format("{} was killed after {} ms", program, ms));
  if (WIFSIGNALED(status))
    return fail(Errc::Io, fmt::format("{} ended by signal {}", program, WTERMSIG(status)));
  if (WEXITSTATUS(status) != 0)
    return fail(Errc::Io, fmt::format("{} ended with code {}", program, WEXITSTATUS(status)));
  return {};
}

void EventProgram::run(std::string program, std::string event, std::string input) {
  if (waiting_.size() == kMostWaiting ||
      std::ranges::count(waiting_, event, &Run::event) == std::ptrdiff_t{kMostWaitingOfOne}) {
    ++left_out_;
    return;
  }
  waiting_.push_back({std::move(program), std::move(event), std::move(input)});
  if (!busy_) next();
}

void EventProgram::report_left_out() {
  if (const auto lost = std::exchange(left_out_, 0); lost > 0)
    log::warn(kEventProgram, "events_left_out={}", lost);
}

void EventProgram::next() {
  if (waiting_.empty()) return;
  busy_ = true;
  Run run = std::move(waiting_.front());
  waiting_.pop_front();
  work_.offload_aside(
      runtime_,
      [run = std::move(run)] { return run_with_input(run.program, run.input, kLimit); },
      [this](const Result<void>& ran) {
        busy_ = false;
        if (!ran) log::warn(kEventProgram, "why=\"{}\"", ran.error().context);
        next();
      });
}

}  // namespace smd

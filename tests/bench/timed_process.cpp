#include "tests/bench/timed_process.h"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <thread>

namespace smd::bench {
namespace {

/// Added variables come first: the first of two entries with one name counts.
std::vector<std::string> environment(const TimedProcess::Options& options) {
  std::vector<std::string> all;
  for (const auto& [name, value] : options.env) all.push_back(name + "=" + value);
  for (char** each = environ; *each != nullptr; ++each) all.emplace_back(*each);
  return all;
}

std::vector<char*> pointers(std::vector<std::string>& texts) {
  std::vector<char*> all;
  for (std::string& text : texts) all.push_back(text.data());
  all.push_back(nullptr);
  return all;
}

double ms(const timeval& t) {
  return static_cast<double>(t.tv_sec) * 1e3 + static_cast<double>(t.tv_usec) / 1e3;
}

}  // namespace

Environment ahead_of(const std::string& library, Environment env) {
  for (auto& [name, value] : env) {
    if (name == "LD_PRELOAD" && !library.empty()) value = library + ":" + value;
  }
  return env;
}

TimedProcess::TimedProcess(const Options& options) {
  std::vector<std::string> argv = options.argv;
  std::vector<std::string> env = environment(options);
  posix_spawn_file_actions_t files;
  ::posix_spawn_file_actions_init(&files);
  ::posix_spawn_file_actions_addopen(&files, 0, "/dev/null", O_RDONLY, 0);
  constexpr int kFresh = O_WRONLY | O_CREAT | O_TRUNC;
  ::posix_spawn_file_actions_addopen(&files, 1, options.out.c_str(), kFresh, 0644);
  ::posix_spawn_file_actions_addopen(&files, 2, options.err.c_str(), kFresh, 0644);
  const std::vector<char*> argv_pointers = pointers(argv);
  const std::vector<char*> env_pointers = pointers(env);
  started_ = Clock::now();
  if (::posix_spawnp(
          &pid_, argv[0].c_str(), &files, nullptr, argv_pointers.data(), env_pointers.data()) != 0)
    ended_ = Ended{.exit_code = 127, .at = Clock::now()};
  ::posix_spawn_file_actions_destroy(&files);
}

TimedProcess::~TimedProcess() {
  if (ended_) return;
  ::kill(pid_, SIGKILL);
  ::waitpid(pid_, nullptr, 0);
}

std::optional<Ended> TimedProcess::poll() {
  if (ended_) return ended_;
  int status = 0;
  rusage usage{};
  if (::wait4(pid_, &status, WNOHANG, &usage) != pid_) return std::nullopt;
  ended_ = Ended{.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status),
                 .at = Clock::now(),
                 .peak_rss_mb = static_cast<double>(usage.ru_maxrss) / 1024.0,
                 .cpu_ms = ms(usage.ru_utime) + ms(usage.ru_stime)};
  return ended_;
}

Ended TimedProcess::wait(std::chrono::seconds limit) {
  const auto end = Clock::now() + limit;
  for (;;) {
    if (const auto ended = poll()) return *ended;
    if (Clock::now() >= end) ::kill(pid_, SIGKILL);
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

Ended TimedProcess::terminate(std::chrono::seconds limit) {
  if (!ended_) ::kill(pid_, SIGTERM);
  return wait(limit);
}

void TimedProcess::signal(int number) const { ::kill(pid_, number); }

}  // namespace smd::bench

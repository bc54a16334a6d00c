#include "tests/support/process.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "tests/support/wait_until.h"

namespace smd::test {
namespace {

std::filesystem::path make_scratch() {
  std::string pattern = (std::filesystem::temp_directory_path() / "smd-test-XXXXXX").string();
  return ::mkdtemp(pattern.data()) != nullptr ? std::filesystem::path(pattern)
                                              : std::filesystem::path();
}

/// Close-on-exec, so that no other child holds an end open.
std::array<int, 2> make_pipe() {
  std::array<int, 2> ends{-1, -1};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) std::abort();
  return ends;
}

std::vector<std::string> merged_environment(const ProcessOptions& options) {
  std::vector<std::string> result;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string_view text(*entry);
    const std::string_view name = text.substr(0, text.find('='));
    const bool replaced = std::any_of(options.env.begin(),
                                      options.env.end(),
                                      [&](const auto& added) { return added.first == name; });
    if (!replaced) result.emplace_back(text);
  }
  for (const auto& [name, value] : options.env) result.push_back(name + "=" + value);
  return result;
}

std::vector<char*> pointers(std::vector<std::string>& texts) {
  std::vector<char*> result;
  for (std::string& text : texts) result.push_back(text.data());
  result.push_back(nullptr);
  return result;
}

/// Appends what is there; false at the end of the stream.
bool drain(int fd, std::string& into) {
  std::array<char, 16384> buffer;
  for (;;) {
    const ssize_t count = ::read(fd, buffer.data(), buffer.size());
    if (count > 0) {
      into.append(buffer.data(), static_cast<std::size_t>(count));
      continue;
    }
    if (count < 0 && errno == EINTR) continue;
    return count < 0 && errno == EAGAIN;
  }
}

}  // namespace

Process::Process(ProcessOptions options) : cwd_(options.cwd) {
  if (cwd_.empty()) {
    cwd_ = make_scratch();
    owns_cwd_ = !cwd_.empty();
  }
  // A child that stops reading must show as a failed write, not end the test.
  ::signal(SIGPIPE, SIG_IGN);
  std::vector<std::string> environment = merged_environment(options);
  const std::vector<char*> argv = pointers(options.argv);
  const std::vector<char*> envp = pointers(environment);
  const std::array<int, 2> in = make_pipe();
  const std::array<int, 2> out = make_pipe();
  const std::array<int, 2> err = make_pipe();
  const pid_t parent = ::getpid();
  pid_ = ::fork();
  if (pid_ == 0) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    ::signal(SIGPIPE, SIG_DFL);
    const bool ready = ::getppid() == parent && ::dup2(in[0], 0) == 0 && ::dup2(out[1], 1) == 1 &&
                       ::dup2(err[1], 2) == 2 && ::chdir(cwd_.c_str()) == 0;
    if (ready) ::execvpe(argv[0], argv.data(), envp.data());
    ::_exit(127);
  }
  ::close(in[0]);
  ::close(out[1]);
  ::close(err[1]);
  stdin_ = in[1];
  stdout_ = out[0];
  stderr_ = err[0];
  ::fcntl(stdout_, F_SETFL, O_NONBLOCK);
  ::fcntl(stderr_, F_SETFL, O_NONBLOCK);
}

Process::~Process() {
  if (!exit_code_ && pid_ > 0) {
    ::kill(pid_, SIGKILL);
    reap(true);
  }
  for (const int fd : {stdin_, stdout_, stderr_}) {
    if (fd >= 0) ::close(fd);
  }
  std::error_code ignored;
  if (owns_cwd_) std::filesystem::remove_all(cwd_, ignored);
}

bool Process::write(std::string_view text) {
  while (stdin_ >= 0 && !text.empty()) {
    const ssize_t count = ::write(stdin_, text.data(), text.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return false;
    text.remove_prefix(static_cast<std::size_t>(count));
  }
  return stdin_ >= 0;
}

void Process::close_stdin() {
  if (stdin_ >= 0) ::close(stdin_);
  stdin_ = -1;
}

void Process::reap(bool block) {
  if (exit_code_ || pid_ <= 0) return;
  int status = 0;
  pid_t got = 0;
  do {
    got = ::waitpid(pid_, &status, block ? 0 : WNOHANG);
  } while (got < 0 && errno == EINTR);
  if (got != pid_) return;
  exit_code_ = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

void Process::read_output(Milliseconds limit) {
  std::array<pollfd, 2> waits{pollfd{stdout_, POLLIN, 0}, pollfd{stderr_, POLLIN, 0}};
  ::poll(waits.data(), waits.size(), static_cast<int>(limit.count()));
  for (const auto& [fd, text] : {std::pair{&stdout_, &out_}, std::pair{&stderr_, &err_}}) {
    if (*fd >= 0 && !drain(*fd, *text)) {
      ::close(*fd);
      *fd = -1;
    }
  }
}

std::optional<int> Process::wait(Milliseconds limit) {
  Limit end(limit);
  for (;;) {
    reap(false);
    // A grandchild may hold the pipes open: what the program wrote itself is there by now.
    read_output(Milliseconds(exit_code_ ? 0 : 10));
    if (exit_code_ || end.reached()) return exit_code_;
  }
}

bool Process::wait_for_output(std::string_view text, Milliseconds limit, std::size_t from) {
  Limit end(limit);
  for (;;) {
    if (from <= out_.size() && out_.find(text, from) != std::string::npos) return true;
    if (exit_code_ || end.reached()) return false;
    reap(false);
    read_output(Milliseconds(exit_code_ ? 0 : 10));
    if (exit_code_) return from <= out_.size() && out_.find(text, from) != std::string::npos;
  }
}

std::optional<int> Process::terminate(Milliseconds limit) {
  if (is_running()) ::kill(pid_, SIGTERM);
  if (const auto code = wait(limit)) return code;
  ::kill(pid_, SIGKILL);
  return wait(std::chrono::seconds(5));
}

bool Process::is_running() {
  reap(false);
  return !exit_code_ && pid_ > 0;
}

const std::string& Process::out() {
  read_output(Milliseconds(0));
  return out_;
}

const std::string& Process::err() {
  read_output(Milliseconds(0));
  return err_;
}

Finished run_process(ProcessOptions options, Process::Milliseconds limit) {
  Process process(std::move(options));
  process.close_stdin();
  Finished finished;
  finished.exit_code = process.wait(limit);
  finished.out = process.out();
  finished.err = process.err();
  return finished;
}

}  // namespace smd::test

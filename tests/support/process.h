// A program that a test runs: its own scratch folder, captured output, a deadline, and no way to
// outlive the test. Limits are those of an idle machine: see wait_until.h.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace smd::test {

struct ProcessOptions {
  std::vector<std::string> argv;                         // argv[0] is looked up in PATH
  std::vector<std::pair<std::string, std::string>> env;  // added to the test's own
  std::filesystem::path cwd;  // empty: a fresh scratch folder that goes with the Process
};

class Process {
 public:
  using Milliseconds = std::chrono::milliseconds;

  /// Starts the program; a failure to start shows as exit code 127.
  explicit Process(ProcessOptions options);

  /// Kills it when it still runs.
  ~Process();
  Process(const Process&) = delete;

  [[nodiscard]] pid_t pid() const { return pid_; }

  [[nodiscard]] const std::filesystem::path& cwd() const { return cwd_; }

  /// Writes to the program's stdin; false when it no longer reads.
  bool write(std::string_view text);
  void close_stdin();

  /// The exit code, 128 + signal for a violent end, or nothing when it still runs after `limit`.
  std::optional<int> wait(Milliseconds limit);

  /// Waits until stdout contains `text` from `from` on, the program ends, or the limit is reached.
  /// Returns whether the text is there.
  bool wait_for_output(std::string_view text, Milliseconds limit, std::size_t from = 0);

  /// SIGTERM, and SIGKILL to what is left at the limit; the exit code as wait() gives it.
  std::optional<int> terminate(Milliseconds limit = std::chrono::seconds(5));

  [[nodiscard]] bool is_running();

  /// What came so far.
  [[nodiscard]] const std::string& out();
  [[nodiscard]] const std::string& err();

 private:
  void read_output(Milliseconds limit);
  void reap(bool block);

  std::filesystem::path cwd_;
  bool owns_cwd_ = false;
  pid_t pid_ = -1;
  int stdin_ = -1;
  int stdout_ = -1;
  int stderr_ = -1;
  std::optional<int> exit_code_;
  std::string out_;
  std::string err_;
};

/// Runs to the end: exit code (nothing when it had to be killed at the limit) and output.
struct Finished {
  std::optional<int> exit_code;
  std::string out;
  std::string err;
};

Finished run_process(ProcessOptions options, Process::Milliseconds limit);

}  // namespace smd::test

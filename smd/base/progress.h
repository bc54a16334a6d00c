// What a command is doing and how far it is, on standard error while it takes long. For people:
// nothing of it is in a result, and neither virtual time nor the order of anything knows of it.
//
// Silent for the first 2 s. On a terminal one line, written over and over; elsewhere, when asked
// for, a line every 2 s. Where no Display lives, the functions note numbers that nobody reads.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <thread>

namespace smd::progress {

struct Step {
  std::string what;  // "discovery"
  std::string unit;  // "SMPs"; empty: nothing is counted
  double done = 0;   // so many of them
  double of = 0;     // in all; 0: nobody knows
};

/// "runs: 3 of 8, 41 %, 12 s, at most 17 s left"; what is not known is left out. `elapsed`: since
/// the step began.
[[nodiscard]] std::string print_step(const Step& step, std::chrono::duration<double> elapsed);

// From any thread.

/// Another step begins.
void begin(std::string_view what, std::string_view unit = {}, double of = 0);

/// There is more to do in this step than it was said.
void expect(double more);

/// So much is done.
void set(double done);
void add(double done);

/// Of the option that asks for it, in every program.
inline constexpr const char* kHelp =
    "Say how far it is on standard error, also where that is no terminal";

class Display {
 public:
  struct Output {
    std::FILE* file = stderr;
    bool terminal = false;
    std::chrono::milliseconds quiet{2000};
    std::chrono::milliseconds pause{2000};
  };

  /// Where standard error is a terminal, or it was `asked` for. One at a time.
  explicit Display(bool asked = false);
  explicit Display(const Output& output);
  ~Display();
  Display(const Display&) = delete;

  /// Written so far.
  [[nodiscard]] unsigned long lines() const { return lines_; }

 private:
  void start();
  void show();

  std::optional<Output> output_;  // none: silent
  bool over_ = false;
  std::atomic<unsigned long> lines_{0};
  std::mutex mutex_;  // of over_
  std::condition_variable changed_;
  std::thread writer_;
};

}  // namespace smd::progress

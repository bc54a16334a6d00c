#include "smd/base/progress.h"

#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cmath>

namespace smd::progress {
namespace {

/// Before so much is done, what is left is anybody's guess.
constexpr double kLeastShare = 0.01;

struct State {
  std::mutex mutex;
  Step step;  // but for what is done
  std::chrono::steady_clock::time_point began;
  std::atomic<double> done{0};  // apart, since it is said millions of times
};

State& state() {
  static State s;
  return s;
}

}  // namespace

std::string print_step(const Step& step, std::chrono::duration<double> elapsed) {
  std::string out = step.what + ":";
  const double share = step.of > 0 ? std::clamp(step.done / step.of, 0.0, 1.0) : 0;
  if (step.of > 0) {
    out += fmt::format(" {:.0f} of {:.0f} {}, {:.0f} %,",
                       std::floor(step.done),
                       step.of,
                       step.unit,
                       std::floor(100 * share));
  } else if (!step.unit.empty()) {
    out += fmt::format(" {:.0f} {},", std::floor(step.done), step.unit);
  }
  out += fmt::format(" {:.0f} s", elapsed.count());
  if (share >= kLeastShare)
    out += fmt::format(", at most {:.0f} s left", elapsed.count() * (1 - share) / share);
  return out;
}

void begin(std::string_view what, std::string_view unit, double of) {
  State& s = state();
  const std::lock_guard lock(s.mutex);
  s.step = {.what = std::string(what), .unit = std::string(unit), .of = of};
  s.done = 0;
  s.began = std::chrono::steady_clock::now();
}

void expect(double more) {
  State& s = state();
  const std::lock_guard lock(s.mutex);
  s.step.of += more;
}

void set(double done) { state().done.store(done, std::memory_order_relaxed); }

void add(double done) { state().done.fetch_add(done, std::memory_order_relaxed); }

Display::Display(bool asked) {
  const bool terminal = ::isatty(STDERR_FILENO) != 0;
  if (terminal || asked) output_ = Output{.terminal = terminal};
  if (terminal) output_->pause = std::chrono::milliseconds(200);
  start();
}

Display::Display(const Output& output) : output_(output) { start(); }

void Display::start() {
  if (!output_) return;
  writer_ = std::thread([this] {
    std::unique_lock lock(mutex_);
    const auto is_over = [this] { return over_; };
    if (changed_.wait_for(lock, output_->quiet, is_over)) return;
    show();
    while (!changed_.wait_for(lock, output_->pause, is_over)) show();
  });
}

Display::~Display() {
  if (!output_) return;
  {
    const std::lock_guard lock(mutex_);
    over_ = true;
  }
  changed_.notify_one();
  writer_.join();
  // What follows begins at the start of a line that is empty.
  if (output_->terminal && lines_ > 0) fmt::print(output_->file, "\r\x1b[K");
  std::fflush(output_->file);
}

void Display::show() {
  Step step;
  std::chrono::duration<double> elapsed;
  {
    State& s = state();
    const std::lock_guard lock(s.mutex);
    step = s.step;
    step.done = s.done;
    elapsed = std::chrono::steady_clock::now() - s.began;
  }
  if (step.what.empty()) return;
  if (output_->terminal) {
    fmt::print(output_->file, "\r{}\x1b[K", print_step(step, elapsed));
  } else {
    fmt::print(output_->file, "{}\n", print_step(step, elapsed));
  }
  std::fflush(output_->file);
  ++lines_;
}

}  // namespace smd::progress

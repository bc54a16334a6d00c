#include "sim-backend/bin/progress.h"

#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>

namespace smd::sim {
namespace {

constexpr std::chrono::milliseconds kOnTerminal{200};
constexpr std::chrono::milliseconds kElsewhere{1000};
/// Before so much is done, what is left is anybody's guess.
constexpr double kLeastShare = 0.01;

}  // namespace

std::string print_progress(const std::vector<double>& shares,
                           std::chrono::duration<double> elapsed) {
  double sum = 0;
  std::size_t done = 0;
  for (const double share : shares) {
    sum += std::clamp(share, 0.0, 1.0);
    done += share >= 1;
  }
  const double share = shares.empty() ? 1 : sum / static_cast<double>(shares.size());
  std::string out =
      fmt::format("{} of {} runs, {:.0f} %", done, shares.size(), std::floor(100 * share));
  if (share >= kLeastShare) {
    out += fmt::format(", at most {:.0f} s left", elapsed.count() * (1 - share) / share);
  }
  return out;
}

Progress::Progress(std::size_t runs, bool asked)
    : shares_(runs),
      began_(std::chrono::steady_clock::now()),
      terminal_(::isatty(STDERR_FILENO) != 0) {
  if (!terminal_ && !asked) return;
  writer_ = std::thread([this] {
    std::unique_lock lock(mutex_);
    while (!changed_.wait_for(lock, terminal_ ? kOnTerminal : kElsewhere, [this] { return over_; }))
      show();
    show();
    if (terminal_) fmt::print(stderr, "\n");
  });
}

Progress::~Progress() {
  {
    const std::lock_guard lock(mutex_);
    over_ = true;
  }
  changed_.notify_one();
  if (writer_.joinable()) writer_.join();
}

void Progress::show() const {
  std::vector<double> shares;
  for (const auto& share : shares_) shares.push_back(share.load(std::memory_order_relaxed));
  const std::string line = print_progress(shares, std::chrono::steady_clock::now() - began_);
  if (terminal_) {
    fmt::print(stderr, "\r{}\x1b[K", line);
  } else {
    fmt::print(stderr, "{}\n", line);
  }
  std::fflush(stderr);
}

}  // namespace smd::sim

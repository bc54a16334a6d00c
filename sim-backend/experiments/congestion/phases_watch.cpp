#include "sim-backend/experiments/congestion/phases_watch.h"

#include <algorithm>
#include <cmath>

namespace smd::sim {
namespace {

constexpr Picos kCycle = kNano;
constexpr unsigned kLeastPackets = 20;  // of a window, for its mean to count

template <class T>
T& at(std::vector<T>& windows, std::uint64_t window) {
  if (windows.size() <= window) windows.resize(window + 1);
  return windows[window];
}

}  // namespace

void PhasesWatch::on_delivered(const Delivery& arrival) {
  const double latency = double(arrival.tail - arrival.generated) / kCycle;
  const auto cycle = static_cast<std::uint64_t>(arrival.tail / kCycle);
  at(all, cycle / setup_.latency_window).add(latency);
  if (arrival.tag == 0) at(firsts, cycle / setup_.latency_window).add(latency);
  at(bytes, cycle / setup_.rate_window) += arrival.payload + header_;
  ++arrived[arrival.tag];
  if (cycle < setup_.second_at) {
    before.add(latency);
  } else {
    of[arrival.tag].add(latency);
  }
}

double PhasesWatch::peak(const std::vector<Sum>& windows, std::size_t from, std::size_t to) {
  double out = 0;
  for (std::size_t i = from; i < std::min(to, windows.size()); ++i) {
    if (windows[i].packets >= kLeastPackets) out = std::max(out, windows[i].mean());
  }
  return out;
}

void PhasesWatch::tell_rates(std::size_t end, PhasesResult& out) const {
  const double share = double(setup_.rate_window) * setup_.ranks;
  const std::size_t begin = setup_.second_at / setup_.rate_window;
  out.rate_after = bytes[end + 2] / share;
  // The first window fills an empty network.
  for (std::size_t i = 1; i < begin; ++i) out.rate_before += bytes[i] / share;
  if (begin > 1) out.rate_before /= double(begin - 1);
  double sum = 0, squares = 0;
  std::size_t count = 0;
  for (std::size_t i = begin; i <= end; ++i, ++count) {
    const double rate = bytes[i] / share;
    out.least_rate = count == 0 ? rate : std::min(out.least_rate, rate);
    sum += rate;
    squares += rate * rate;
  }
  if (count == 0 || sum == 0) return;
  const double mean = sum / double(count);
  out.rate_deviation = std::sqrt(std::max(0.0, squares / double(count) - mean * mean)) / mean;
}

}  // namespace smd::sim

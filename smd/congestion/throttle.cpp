#include "smd/congestion/throttle.h"

#include <algorithm>
#include <cmath>

namespace smd::cc {
namespace {

constexpr std::uint64_t kMost = std::uint64_t{1} << 63;

/// So that the whole table fits one block of 64 entries.
constexpr unsigned kMostWindowSteps = 32;

std::uint64_t power(unsigned base, unsigned exponent) {
  std::uint64_t out = 1;
  for (; exponent > 0; --exponent) {
    if (base != 0 && out > kMost / base) return kMost;
    out *= base;
  }
  return out;
}

CctEntry encode(double packet_times, double (*round)(double)) {
  const double delay = std::clamp(packet_times, 0.0, double{kMaxMultiplier});
  std::uint8_t shift = 3;
  while (shift > 0 && round(std::ldexp(delay, shift)) > kMaxMultiplier) --shift;
  return {.shift = shift,
          .multiplier = static_cast<std::uint16_t>(round(std::ldexp(delay, shift)))};
}

}  // namespace

double compute_path_bytes(const PathTiming& path) {
  return 2 * path.switches * path.hop_time * path.bytes_per_time + path.ack_bytes;
}

double compute_round_trip(const PathTiming& path, double payload) {
  return (compute_path_bytes(path) + path.head_bytes + payload) / path.bytes_per_time;
}

double compute_window(const PathTiming& path, double payload) {
  const double data = path.head_bytes + payload;
  return (compute_path_bytes(path) + data) / data;
}

unsigned window_ceiling(double window) { return static_cast<unsigned>(std::ceil(window)); }

std::uint64_t waiting_slots(unsigned marks, unsigned radix, unsigned stages, WaitCap cap) {
  if (marks == 0) return 0;
  unsigned exponent = marks - 1;
  if (cap == WaitCap::Stages) exponent = std::min(exponent, stages);
  if (cap == WaitCap::StagesMinusOne) exponent = std::min(exponent, std::max(stages, 1u) - 1);
  return power(radix, exponent);
}

double hot_rate(unsigned radix, double hot_inputs) { return 1 + hot_inputs - hot_inputs / radix; }

double fair_reduction(unsigned radix, double hot_inputs) {
  return radix / (hot_inputs * (radix - 1) + radix);
}

double least_reduction(unsigned radix, unsigned stages) {
  return 1 / static_cast<double>(power(radix, stages));
}

Delays waiting_delays(double window, unsigned radix, unsigned stages, WaitCap cap) {
  const unsigned steps = cap == WaitCap::StagesMinusOne ? stages : stages + 1;
  Delays delays{0};
  for (unsigned marks = 1; marks <= steps; ++marks)
    delays.push_back(window * static_cast<double>(waiting_slots(marks, radix, stages, cap)));
  return delays;
}

Delays throttle_delays(double window, unsigned radix, unsigned stages) {
  Delays delays{0};
  const unsigned ceiling = window_ceiling(window);
  const unsigned stride = 1 + (std::max(ceiling, 2u) - 2) / kMostWindowSteps;
  for (unsigned packets = ceiling; packets >= 2 + stride;) {
    packets -= stride;
    delays.push_back(window / packets - 1);
  }
  const Delays waits = waiting_delays(window, radix, stages);
  delays.insert(delays.end(), waits.begin() + 1, waits.end());
  return delays;
}

Delays spread_delays(const Delays& delays, double least) {
  Delays out;
  for (const double delay : delays) {
    if (!out.empty()) {
      const double from = 1 + out.back();  // the inverse of a rate
      const double ratio = (1 + delay) / from;
      const int steps = static_cast<int>(std::ceil(std::log(ratio) / -std::log(least) - 1e-9));
      for (int step = 1; step < steps; ++step)
        out.push_back(from * std::pow(ratio, double(step) / steps) - 1);
    }
    out.push_back(delay);
  }
  return out;
}

CctEntry encode_delay(double packet_times) {
  return encode(packet_times, [](double value) { return std::round(value); });
}

CctEntry encode_delay_below(double packet_times) {
  return encode(packet_times, [](double value) { return std::floor(value); });
}

double delay_of(const CctEntry& entry) { return std::ldexp(entry.multiplier, -entry.shift); }

std::size_t counted_hosts(std::size_t hosts) {
  if (hosts < 3) return hosts;
  std::size_t counted = 3;
  while (2 * counted <= hosts) counted *= 2;
  return counted;
}

std::uint8_t threshold_of(double fraction) {
  return static_cast<std::uint8_t>(std::clamp(std::round(16 * (1 - fraction)), 1.0, 15.0));
}

double fraction_of(std::uint8_t threshold) { return threshold == 0 ? 2 : 1 - threshold / 16.0; }

}  // namespace smd::cc

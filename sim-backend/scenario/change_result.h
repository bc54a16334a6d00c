// What changes of a network did to its traffic.
#pragma once

#include <cstdint>
#include <string>

#include "sim-backend/measure/histogram.h"
#include "sim-backend/packet/discard.h"
#include "sim-backend/packet/picos.h"
#include "smd/subnet/cycle_report.h"

namespace smd::sim {

/// Latencies in picoseconds.
struct LatencyFigures {
  double mean = 0;
  std::uint64_t p50 = 0;
  std::uint64_t p90 = 0;
  std::uint64_t p99 = 0;
  std::uint64_t p999 = 0;
  std::uint64_t max = 0;
};

[[nodiscard]] LatencyFigures read_latency(const Histogram& values);

/// One fault of the plan. Times since the traffic began.
struct ChangeResult {
  Picos at = 0;
  std::string what;         // "link-down sw-0-3:5"
  Picos noticed = kNever;   // a cycle of the manager began for it
  Picos taken_in = kNever;  // the last cycle for it ended, and the manager rests
  std::uint64_t cycles = 0;
  std::uint64_t smps = 0;
  std::uint64_t phases = 0;  // of the plans
  bool certified = true;     // all of them
};

enum class PeriodKind : std::uint8_t {
  Before,  // the first fault
  During,  // from a fault until it is taken in
  After
};

/// "before", "during", "after".
[[nodiscard]] std::string_view print_period(PeriodKind kind);

/// What happened to packets between two such moments. Latencies are of what arrived in it.
struct Period {
  PeriodKind kind = PeriodKind::Before;
  Picos begin = 0;
  Picos end = 0;
  std::uint64_t generated = 0;
  std::uint64_t delivered = 0;
  double accepted_load = 0;  // of all hosts' links, headers included
  DiscardCounts discarded{};
  /// Of them, those that no fault so far explains: not thrown away at a link or node that went, or
  /// for another cause than that it is gone.
  std::uint64_t unexplained = 0;
  LatencyFigures latency;          // from generation to the last byte
  LatencyFigures network_latency;  // from injection
};

}  // namespace smd::sim

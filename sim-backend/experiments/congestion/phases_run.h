// Two parallel programs on one network: the second begins when the first has run for a while. What
// the packets of both feel from then on until all of the second's have arrived. Cycles are
// nanoseconds of the preset "multistage".
#pragma once

#include <string>
#include <vector>

#include "sim-backend/congestion/preset.h"
#include "smd/base/result.h"

namespace smd::sim {

/// As `smsim trace` takes it.
struct ProgramTrace {
  std::vector<std::string> phases;
  std::uint64_t repeat = 1;
  double bytes_per_cycle = 1;
  double speed = 1;
  std::uint64_t jitter = 0;  // cycles
};

struct PhasesSetup {
  std::string fabric = "bmin:k=4,stages=3";
  std::uint32_t ranks = 64;
  ProgramTrace first, second;
  std::uint64_t second_at = 0;  // cycles
  /// Windows: of mean latencies and of throughput. The latter best a step of the first program.
  std::uint64_t latency_window = 10'000;
  std::uint64_t rate_window = 100'000;
};

struct PhasesOf {
  std::uint64_t packets = 0;
  double mean_latency = 0;  // cycles, from generation
};

struct PhasesWindow {
  double begins = 0;  // cycles since the second program's start; below 0 before
  double mean_latency = 0;
};

struct PhasesResult {
  PhasesOf all, first, second;  // that arrive while the second program's do
  double peak_latency = 0;      // of a latency window's mean, with 20 packets or more
  double peak_first = 0;        // of the first program's packets
  double mean_before = 0;       // of the packets that arrive before the second begins
  double peak_before = 0;
  double consumed = 0;        // cycles from the second's start to its last arrival
  double rate_before = 0;     // bytes per cycle and host, in the rate windows before it
  double least_rate = 0;      // of a rate window until that in which all is consumed
  double rate_deviation = 0;  // of those, relative to their mean
  double rate_after = 0;      // of the second whole rate window after that
  double backlog = 0;         // most packets under way or waiting, of the first program
  std::uint64_t digest = 0;
  std::vector<PhasesWindow> windows;  // of latency
};

[[nodiscard]] Result<PhasesResult> run_phases(const PhasesSetup& setup,
                                              const CongestionSpec& mechanism,
                                              std::uint64_t seed);

}  // namespace smd::sim

// One hot-spot pulse under one mechanism, and what came of it. Cycles are nanoseconds of the preset
// "multistage".
#pragma once

#include <string>

#include "sim-backend/congestion/preset.h"
#include "smd/base/result.h"

namespace smd::sim {

struct PulseNetwork {
  std::string fabric = "bmin:k=4,stages=5,hosts=512";
  std::string engine = "updn";
  std::uint64_t warm_packets = 50000;
  unsigned batch = 14;
};

/// Hot and cold packets apart; only those that arrive after the pulse began.
struct PulseClass {
  std::uint64_t packets = 0;
  double mean_latency = 0;  // cycles, from generation
  double peak_latency = 0;  // the highest mean of a window of 10,000 cycles with 20 packets or more
  double marked = 0;        // share
  double fully_marked = 0;  // share with every mark that there is
};

struct PulseResult {
  PulseClass cold, hot;
  double drained = 0;           // cycles from the beginning of the pulse to its last arrival
  double link_share = 0;        // of the hot spot's link, from the pulse's 10,000th cycle on
  double least_link_share = 0;  // of one window of 10,000 cycles
  double longest_gap = 0;       // cycles without a hot arrival
  double cold_rate_before = 0;  // packets per 1,000 cycles and host that sends them
  double least_cold_rate = 0;   // of one window
  std::uint64_t notices = 0;
  std::uint64_t digest = 0;
};

/// `rate`: bytes per cycle of every host that sends. Requires: 0 < rate < 1.
[[nodiscard]] Result<PulseResult> run_pulse(const PulseNetwork& network,
                                            const CongestionSpec& mechanism,
                                            double rate,
                                            std::uint64_t seed);

}  // namespace smd::sim

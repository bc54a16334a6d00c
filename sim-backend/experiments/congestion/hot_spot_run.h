// One hot-spot pulse under one mechanism, and what came of it. Cycles are nanoseconds of the preset
// "multistage".
#pragma once

#include <string>
#include <vector>

#include "sim-backend/congestion/preset.h"
#include "sim-backend/packet/packet_options.h"
#include "sim-backend/traffic/hot_spot.h"
#include "smd/base/result.h"

namespace smd::sim {

struct HotSpotNetwork {
  std::string fabric = "bmin:k=4,stages=5,hosts=512";
  std::string engine = "updn";
  PacketOptions packet = PacketOptions::multistage();
  HotSpotOptions traffic{.warm_packets = 50000, .batch = 14};  // load and seed are run_hot_spot's
  Picos window = 10'000 * kNano;  // that peaks are means of; a multiple of kHotSpotBin
  Picos after = 0;                // to go on for when the pulse has arrived
  Picos give_up = 20'000'000 * kNano;
};

/// Packets of a window, for its mean to count.
inline constexpr unsigned kLeastPackets = 20;

/// What arrives in kHotSpotBin.
inline constexpr Picos kHotSpotBin = 1000 * kNano;

struct HotSpotBin {
  struct Of {
    unsigned packets = 0;
    unsigned marked = 0;
    unsigned fully_marked = 0;
    double latency = 0;  // cycles, of all together
  };

  Of cold, hot;
  double link_bytes = 0;  // that went to the hot spot
  /// Acknowledgements upon which sources of cold packets narrowed a window or waited longer.
  unsigned wrong_actions = 0;
  unsigned actions = 0;  // those of all sources
};

/// Hot and cold packets apart; only those that arrive after the pulse began.
struct HotSpotClass {
  std::uint64_t packets = 0;
  double mean_latency = 0;  // cycles, from generation
  double peak_latency = 0;  // the highest mean of a window with 20 packets or more
  double marked = 0;        // share
  double fully_marked = 0;  // share with every mark that there is
};

struct HotSpotResult {
  HotSpotClass cold, hot;
  double drained = 0;           // cycles from the beginning of the pulse to its last arrival
  double link_share = 0;        // of the hot spot's link, after the pulse's first window
  double least_link_share = 0;  // of one window
  double longest_gap = 0;       // cycles without a hot arrival
  double cold_rate_before = 0;  // packets per 1,000 cycles and host that sends them
  double least_cold_rate = 0;   // of one window
  std::uint64_t notices = 0;
  std::uint64_t impossible_marks = 0;
  std::uint64_t digest = 0;
  std::vector<HotSpotBin> bins;     // from the beginning of the pulse on; the last one is not whole
  std::vector<HotSpotBin> trailer;  // those that follow it, for HotSpotNetwork::after
};

/// `rate`: bytes per cycle of every host that sends. Requires: 0 < rate < 1.
[[nodiscard]] Result<HotSpotResult> run_hot_spot(const HotSpotNetwork& network,
                                                 const CongestionSpec& mechanism,
                                                 double rate,
                                                 std::uint64_t seed);

/// The highest mean latency, in cycles, of a window of so many bins with 20 packets or more.
/// Windows lie end to end from the beginning of the pulse. Requires: bins > 0.
[[nodiscard]] double peak_latency(const HotSpotResult& result,
                                  HotSpotBin::Of HotSpotBin::*of,
                                  std::size_t bins);

}  // namespace smd::sim

// The runs of the hot-spot pulse: which mechanism, or part of one, at which load.
#pragma once

#include <array>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sim-backend/experiments/congestion/pulse_run.h"

namespace smd::sim {

struct HotSpotLevel {
  std::string_view name;
  double rate;  // bytes per cycle and host: Table 8.2, over four hosts of a switch
};

inline constexpr std::array kHotSpotLevels{
    HotSpotLevel{"low", 0.0625}, HotSpotLevel{"medium", 0.1325}, HotSpotLevel{"high", 0.19}};

/// Those whose windows and slots are run apart at high load, beside MVPM at every load.
inline constexpr std::array kOtherMarkings{"ipm", "rpm", "opm", "iopm"};

struct HotSpotCase {
  std::string name;
  std::size_t level;  // of kHotSpotLevels
  CongestionSpec spec;
};

/// "MECHANISM", "MARKING window", "MARKING slots" or "MARKING marks", each once per level.
[[nodiscard]] std::vector<HotSpotCase> hot_spot_cases();

/// By name and level of a case.
using HotSpotResults = std::map<std::pair<std::string, std::size_t>, PulseResult>;

}  // namespace smd::sim

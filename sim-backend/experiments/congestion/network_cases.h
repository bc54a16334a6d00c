// Several pulses, run side by side, found again by name.
#pragma once

#include <array>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "sim-backend/experiments/congestion/hot_spot_run.h"
#include "sim-backend/lab/experiment.h"

namespace smd::sim {

struct HotSpotLevel {
  std::string_view name;
  double rate;  // bytes per cycle and host: Table 8.2, over four hosts of a switch
};

inline constexpr std::array kHotSpotLevels{
    HotSpotLevel{"low", 0.0625}, HotSpotLevel{"medium", 0.1325}, HotSpotLevel{"high", 0.19}};

struct NetworkCase {
  std::string name;  // "mvcm, high"
  HotSpotNetwork network;
  CongestionSpec mechanism;
  double rate = 0.1325;  // as of run_hot_spot
};

using NetworkResults = std::map<std::string, HotSpotResult>;

/// Requires: no name is twice there.
[[nodiscard]] Result<NetworkResults> run_cases(unsigned jobs,
                                               const std::vector<NetworkCase>& cases);

/// A table with a row for each case, in their order; nothing judged, nothing plotted.
[[nodiscard]] Findings tabulate_cases(const std::vector<NetworkCase>& cases,
                                      const NetworkResults& results);

/// The network of the published study; with `quick` one of 64 hosts.
[[nodiscard]] HotSpotNetwork study_network(bool quick);

/// Requires: there is a mechanism, a marking of that name.
[[nodiscard]] CongestionSpec mechanism_of(std::string_view name);
/// MVCM with that marking.
[[nodiscard]] CongestionSpec with_marking(std::string_view name);

/// Parts of a mechanism alone. Marks alone are set, and nobody acts on them.
[[nodiscard]] CongestionSpec window_alone(CongestionSpec spec);
[[nodiscard]] CongestionSpec slots_alone(CongestionSpec spec);
[[nodiscard]] CongestionSpec marks_alone(std::string_view marking);

}  // namespace smd::sim

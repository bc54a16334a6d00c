// Several pulses, run side by side, found again by name.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "sim-backend/experiments/congestion/pulse_run.h"
#include "sim-backend/lab/experiment.h"

namespace smd::sim {

struct PulseCase {
  std::string name;  // "mvcm, high"
  PulseNetwork network;
  CongestionSpec mechanism;
  double rate = 0.1325;  // as of run_pulse
};

using PulseResults = std::map<std::string, PulseResult>;

/// Requires: no name is twice there.
[[nodiscard]] Result<PulseResults> run_pulses(unsigned jobs, const std::vector<PulseCase>& cases);

/// A table with a row for each case, in their order; nothing judged, nothing plotted.
[[nodiscard]] Findings tell_pulses(const std::vector<PulseCase>& cases,
                                   const PulseResults& results);

/// The network of the published study; with `quick` one of 64 hosts.
[[nodiscard]] PulseNetwork study_network(bool quick);

/// Requires: there is a mechanism, a marking of that name.
[[nodiscard]] CongestionSpec mechanism_of(std::string_view name);
/// MVCM with that marking.
[[nodiscard]] CongestionSpec with_marking(std::string_view name);

/// Parts of a mechanism alone. Marks alone are set, and nobody acts on them.
[[nodiscard]] CongestionSpec window_alone(CongestionSpec spec);
[[nodiscard]] CongestionSpec slots_alone(CongestionSpec spec);
[[nodiscard]] CongestionSpec marks_alone(std::string_view marking);

}  // namespace smd::sim

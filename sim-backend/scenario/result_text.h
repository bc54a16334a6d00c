// What a scenario came to, as text, files and a plot's numbers.
#pragma once

#include <string>
#include <vector>

#include "sim-backend/scenario/run.h"

namespace smd::sim {

struct ScenarioResult {
  std::vector<PointResult> points;  // by load, then by seed
  bool interrupted = false;         // points are missing, or did not run to their end

  struct Saturation {
    std::uint64_t seed = 0;
    SaturationPoint point;
  };

  std::vector<Saturation> saturation;  // by seed, where it was asked for
};

/// One object; its keys are in docs/formats/scenario.md.
[[nodiscard]] std::string print_scenario_json(const PreparedScenario& scenario,
                                              const ScenarioResult& result);

/// A row per load and seed.
[[nodiscard]] std::string print_points_csv(const ScenarioResult& result);

/// A row per period of each load and seed: before, during and after changes.
[[nodiscard]] std::string print_periods_csv(const ScenarioResult& result);

/// A row per interval of each load and seed.
[[nodiscard]] std::string print_series_csv(const ScenarioResult& result);

/// For people: a line per load and seed.
[[nodiscard]] std::string print_points(const PreparedScenario& scenario,
                                       const ScenarioResult& result);

}  // namespace smd::sim

// The runs of 004-phases: what was chosen where the source is silent, first, and other readings.
#pragma once

#include <string>
#include <vector>

#include "sim-backend/experiments/congestion/phases_run.h"

namespace smd::sim {

struct PhasesCase {
  std::string name;
  PhasesSetup setup;
};

[[nodiscard]] std::vector<PhasesCase> phases_cases(bool quick);

}  // namespace smd::sim

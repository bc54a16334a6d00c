// 003-sweeping-load: what sweeps cost data, what they take of the manager's links, and whether data
// delays the news of a change.
#pragma once

#include "sim-backend/experiments/experiment.h"

namespace smd::sim {

[[nodiscard]] Experiment sweeping_load();

}  // namespace smd::sim

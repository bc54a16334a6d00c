// 004-ablations: what markings, windows and slots are worth by themselves, and when marks are set.
#pragma once

#include "sim-backend/experiments/experiment.h"

namespace smd::sim {

[[nodiscard]] Experiment ablations();

}  // namespace smd::sim

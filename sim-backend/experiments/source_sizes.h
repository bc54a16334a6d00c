// 004-source-memory: how small source queues may be, and what they cost.
#pragma once

#include "sim-backend/experiments/experiment.h"

namespace smd::sim {

[[nodiscard]] Experiment source_sizes();

}  // namespace smd::sim

// 003-double-load: what a change costs when hosts send twice as much.
#pragma once

#include "sim-backend/experiments/experiment.h"

namespace smd::sim {

[[nodiscard]] Experiment double_load();

}  // namespace smd::sim

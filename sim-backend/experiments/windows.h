// 004-windows: what windows and thresholds are derived from, against runs.
#pragma once

#include "sim-backend/experiments/experiment.h"

namespace smd::sim {

[[nodiscard]] Experiment windows();

}  // namespace smd::sim

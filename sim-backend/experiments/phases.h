// 004-phases: two parallel programs at once under every mechanism of congestion control.
#pragma once

#include "sim-backend/experiments/experiment.h"

namespace smd::sim {

[[nodiscard]] Experiment phases();

}  // namespace smd::sim

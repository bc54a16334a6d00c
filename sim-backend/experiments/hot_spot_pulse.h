// 004-hot-spot-pulse: mechanisms of congestion control against a pulse to one host.
#pragma once

#include "sim-backend/experiments/experiment.h"

namespace smd::sim {

[[nodiscard]] Experiment hot_spot_pulse();

}  // namespace smd::sim

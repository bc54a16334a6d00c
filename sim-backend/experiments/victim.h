// 004-victim: a flow that only shares a link with those who cause the congestion.
#pragma once

#include "sim-backend/experiments/experiment.h"

namespace smd::sim {

[[nodiscard]] Experiment victim();

}  // namespace smd::sim

// 004-modern: hot spots, incasts and all-reduces at 4x HDR, by setting of congestion control.
#pragma once

#include "sim-backend/experiments/experiment.h"

namespace smd::sim {

[[nodiscard]] Experiment modern();

}  // namespace smd::sim

// 004-open-parameters: what the source of 004-hot-spot-pulse leaves open, one by one.
#pragma once

#include "sim-backend/experiments/experiment.h"

namespace smd::sim {

[[nodiscard]] Experiment open_parameters();

}  // namespace smd::sim

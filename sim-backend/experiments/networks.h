// 004-networks: a hot-spot pulse with other packet sizes and in other multistage networks.
#pragma once

#include "sim-backend/experiments/experiment.h"

namespace smd::sim {

[[nodiscard]] Experiment networks();

}  // namespace smd::sim

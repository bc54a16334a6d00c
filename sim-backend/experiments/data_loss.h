// 003-data-loss: what a change throws away.
#pragma once

#include "sim-backend/experiments/experiment.h"

namespace smd::sim {

[[nodiscard]] Experiment data_loss();

}  // namespace smd::sim

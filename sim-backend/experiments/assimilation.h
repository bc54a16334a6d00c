#pragma once

#include "sim-backend/experiments/experiment.h"

namespace smd::sim {

[[nodiscard]] Experiment assimilation();

}  // namespace smd::sim

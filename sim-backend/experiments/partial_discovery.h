#pragma once

#include "sim-backend/experiments/experiment.h"

namespace smd::sim {

[[nodiscard]] Experiment partial_discovery();

}  // namespace smd::sim

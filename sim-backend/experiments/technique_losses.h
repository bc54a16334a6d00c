// 003-technique-losses: what each way to distribute tables throws away, and provisional routes.
#pragma once

#include "sim-backend/experiments/experiment.h"

namespace smd::sim {

[[nodiscard]] Experiment technique_losses();

}  // namespace smd::sim

// 003-trap-gain: what traps save beside sweeps.
#pragma once

#include "sim-backend/experiments/experiment.h"

namespace smd::sim {

[[nodiscard]] Experiment trap_gain();

}  // namespace smd::sim

// 003-delta-gain: what it saves to send only entries that differ.
#pragma once

#include "sim-backend/experiments/experiment.h"

namespace smd::sim {

[[nodiscard]] Experiment delta_gain();

}  // namespace smd::sim

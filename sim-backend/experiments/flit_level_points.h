// 003-flit-level-points: the packet level against a flit-level simulator.
#pragma once

#include "sim-backend/experiments/experiment.h"

namespace smd::sim {

[[nodiscard]] Experiment flit_level_points();

}  // namespace smd::sim

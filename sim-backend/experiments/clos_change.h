// 003-clos-change: what a middle switch of a Clos network costs that comes or goes.
#pragma once

#include "sim-backend/experiments/experiment.h"

namespace smd::sim {

[[nodiscard]] Experiment clos_change();

}  // namespace smd::sim

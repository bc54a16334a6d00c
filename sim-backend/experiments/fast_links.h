// 003-fast-links: what a change costs over links that are four times as fast.
#pragma once

#include "sim-backend/experiments/experiment.h"

namespace smd::sim {

[[nodiscard]] Experiment fast_links();

}  // namespace smd::sim

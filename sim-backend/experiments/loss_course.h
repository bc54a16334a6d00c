// 003-loss-course: when packets are lost while one change is taken in, and what still arrives.
#pragma once

#include "sim-backend/experiments/experiment.h"

namespace smd::sim {

[[nodiscard]] Experiment loss_course();

}  // namespace smd::sim

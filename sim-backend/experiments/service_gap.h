// 003-service-gap: how long a change leaves hosts without service on 32 switches.
#pragma once

#include "sim-backend/experiments/experiment.h"

namespace smd::sim {

[[nodiscard]] Experiment service_gap();

}  // namespace smd::sim

// 003-route-quality: what traffic makes of the routes of PIRa, against those of FERa.
#pragma once

#include "sim-backend/experiments/experiment.h"

namespace smd::sim {

[[nodiscard]] Experiment route_quality();

}  // namespace smd::sim

// What was published on a pulse to one host, and whether the cases bear it out.
#pragma once

#include <span>
#include <vector>

#include "sim-backend/experiments/congestion/hot_spot_cases.h"
#include "sim-backend/lab/experiment.h"

namespace smd::sim {

[[nodiscard]] std::span<const ClaimSpec> hot_spot_claims();

/// One for each claim. Requires: every case was run.
[[nodiscard]] std::vector<Judgement> judge_hot_spot(const HotSpotResults& results);

}  // namespace smd::sim

// What a run came to, as the part that stands for it.
#pragma once

#include "sim-backend/campaign/part.h"
#include "sim-backend/scenario/run.h"

namespace smd::sim {

/// Runs one load, or searches for saturation, with one seed. May run on several threads at once.
[[nodiscard]] Part make_part(const PreparedScenario& scenario,
                             const std::string& digest,
                             const CampaignPlan& plan,
                             const RunKey& key,
                             const RunControl& control = {});

}  // namespace smd::sim

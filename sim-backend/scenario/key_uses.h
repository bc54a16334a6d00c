// Keys that a scenario has and that change nothing there: of another pattern, arrival process,
// mechanism or kind of traffic.
#pragma once

#include "sim-backend/scenario/scenario.h"

namespace smd::sim {

/// measure.most_intervals acts.
[[nodiscard]] bool has_most_intervals(const Scenario& scenario);

/// Each with its line, and what the key is of. Requires: every key has been read.
[[nodiscard]] Faults find_idle_keys(const Scenario& scenario);

}  // namespace smd::sim

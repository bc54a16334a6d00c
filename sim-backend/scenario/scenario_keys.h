// The keys of a scenario, one row each: reading, messages and documentation come from the same
// table.
#pragma once

#include <span>

#include "sim-backend/scenario/scenario.h"
#include "smd/base/options.h"

namespace smd::sim {

using ScenarioKey = Option<Scenario>;

/// `fabric.preset` first: it sets what others change.
[[nodiscard]] std::span<const ScenarioKey> scenario_keys();

}  // namespace smd::sim

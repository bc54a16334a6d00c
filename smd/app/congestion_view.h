// Congestion control as smctl shows it. Pure.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "smd/app/congestion_desk.h"

namespace smd::app {

/// Agents that are as they should be are counted, the others named; hot ports, the most often seen
/// first. `now`: null where nothing is in force.
[[nodiscard]] nlohmann::json congestion_json(const CongestionDesk& desk, const ActiveSubnet* now);

}  // namespace smd::app

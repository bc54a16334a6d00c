// What a discovery says at first glance: how much there is, and how long an answer may take.
#pragma once

#include "smd/app/cycle_report.h"

namespace smd::app {

/// LIDs are counted later.
[[nodiscard]] FabricCounts count(const Fabric& fabric);

/// The waiting limit of the specification from what the ports report; at least a floor, and never
/// above the configured limit.
[[nodiscard]] Duration answer_timeout(const SweepReport& found, Duration limit);

}  // namespace smd::app

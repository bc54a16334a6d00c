// One change may take several cycles: what it cost in all, and what came out in the end.
#pragma once

#include <vector>

#include "smd/app/cycle_report.h"

namespace smd::app {

/// Costs are added; reason and beginning are the first cycle's, the outcome is the last one's, and
/// the transition is the one that touched tables most cautiously: certified only when all were.
/// Requires: at least one.
[[nodiscard]] CycleReport sum_cycles(const std::vector<CycleReport>& cycles);

}  // namespace smd::app

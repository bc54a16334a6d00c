// Routes where there is one lane for all destinations.
#pragma once

#include <memory>

#include "smd/routing/nue/planner.h"

namespace smd {

/// Shortest routes where they go together. Else, of plans with destinations in different orders,
/// the one with fewest links, relieved. All arguments outlive it.
[[nodiscard]] std::unique_ptr<NuePlanner> plan_single_lane(const SwitchGraph& graph,
                                                           const Channels& channels,
                                                           const Targets& targets,
                                                           const std::vector<std::uint32_t>& costs);

}  // namespace smd

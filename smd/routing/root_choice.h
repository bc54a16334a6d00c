// Which switch to orient an island from, when nobody says.
#pragma once

#include <vector>

#include "smd/routing/switch_graph.h"

namespace smd {

/// Requires: the island is not empty.
[[nodiscard]] SwitchIdx choose_root(const SwitchGraph& graph,
                                    const IndexVector<SwitchIdx, Guid>& guids,
                                    const Targets& targets,
                                    const std::vector<SwitchIdx>& island);

}  // namespace smd

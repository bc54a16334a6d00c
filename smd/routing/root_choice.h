// Which switch to orient an island from, when nobody says.
#pragma once

#include <vector>

#include "smd/routing/switch_graph.h"

namespace smd {

/// By trial. Requires: the island is not empty.
[[nodiscard]] SwitchIdx choose_root(const SwitchGraph& graph,
                                    const IndexVector<SwitchIdx, Guid>& guids,
                                    const Targets& targets,
                                    const std::vector<SwitchIdx>& island);

/// The switch whose farthest switch is nearest; of several the one with the shortest mean distance,
/// then the smallest GUID. Of a large island only an even sample is measured. Requires: the island
/// is not empty.
[[nodiscard]] SwitchIdx find_central(const SwitchGraph& graph,
                                     const IndexVector<SwitchIdx, Guid>& guids,
                                     const std::vector<SwitchIdx>& island);

}  // namespace smd

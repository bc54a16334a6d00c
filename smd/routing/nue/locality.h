// Destinations by neighbourhood: routes to switches near each other take much the same turns, so
// they get along on one lane.
#pragma once

#include <vector>

#include "smd/routing/switch_graph.h"

namespace smd {

/// Parts of as equal a size as can be, each of switches near to each other, the one in their midst
/// first and the others by their distance from it. Parts beyond the number of switches are empty.
/// Requires: the switches are of one island.
[[nodiscard]] std::vector<std::vector<SwitchIdx>> split_by_locality(const SwitchGraph& graph,
                                                                    std::vector<SwitchIdx> switches,
                                                                    std::size_t parts);

}  // namespace smd

// Gives an island one top again, turning as few links around as it can.
#pragma once

#include <vector>

#include "smd/routing/graph/switch_graph.h"

namespace smd {

/// The connected parts of the graph, each ascending, in order of their first switch.
[[nodiscard]] std::vector<std::vector<SwitchIdx>> find_islands(const SwitchGraph& graph);

/// Switches of the island without an up link, upmost first.
[[nodiscard]] std::vector<SwitchIdx> find_tops(const SwitchGraph& graph,
                                               const IndexVector<SwitchIdx, Guid>& guids,
                                               const std::vector<SwitchIdx>& island,
                                               const IndexVector<SwitchIdx, std::uint32_t>& rank);

/// Returns the switches that changed places with others; each keeps its order towards all the rest.
///
/// In this order: a neighbour of three tops or more is raised above all of them; tops are hung,
/// one after the other, below the nearest switch under them that has another link up. That
/// turns round the links in between, where it can a single one. Room is made by moving down all
/// that comes later, which turns nothing.
[[nodiscard]] std::vector<SwitchIdx> repair_orientation(
    const SwitchGraph& graph,
    const IndexVector<SwitchIdx, Guid>& guids,
    const std::vector<SwitchIdx>& island,
    IndexVector<SwitchIdx, std::uint32_t>& rank);

}  // namespace smd

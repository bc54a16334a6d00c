// Gives an island one top again, turning as few links around as it can.
#pragma once

#include <vector>

#include "smd/routing/switch_graph.h"

namespace smd {

/// The connected parts of the graph, each ascending, in order of their first switch.
[[nodiscard]] std::vector<std::vector<SwitchIdx>> find_islands(const SwitchGraph& graph);

/// Switches of the island without an up link, upmost first.
[[nodiscard]] std::vector<SwitchIdx> find_tops(const SwitchGraph& graph,
                                               const IndexVector<SwitchIdx, Guid>& guids,
                                               const std::vector<SwitchIdx>& island,
                                               const IndexVector<SwitchIdx, std::uint32_t>& rank);

/// True when all ranks, of every island, were moved down by one to make room above rank 0.
///
/// In this order: of two tops the lower one is put below a neighbour, if that leaves one top; a
/// neighbour of all tops is raised above them; switches that do not reach the upmost top are put
/// below neighbours that do, until none is left. Each step but the last alters one switch.
[[nodiscard]] bool repair_orientation(const SwitchGraph& graph,
                                      const IndexVector<SwitchIdx, Guid>& guids,
                                      const std::vector<SwitchIdx>& island,
                                      IndexVector<SwitchIdx, std::uint32_t>& rank);

}  // namespace smd

// Which switch an orientation starts from, and the ranks of a depth-first one.
#pragma once

#include <span>
#include <vector>

#include "smd/routing/graph/switch_graph.h"

namespace smd {

// Depth-first orientation: every switch has the rank at which a walk first meets it.
//
// Links that the walk does not take join a switch to one of its ancestors, so the root reaches
// everybody downwards, and fewer turns are forbidden than from breadth first (Sancho, Robles,
// Duato, 2000).

/// Ranks the switches of an island 0, 1, … in the order of a walk that goes on to the neighbour
/// with most links to switches met before, of these to the one farthest from all others on
/// average, of these to the smallest GUID. Of `roots` it starts from the one that forbids fewest
/// turns; of many only an even sample is tried. Requires: `roots` are of the island, and not none.
void rank_depth_first(const SwitchGraph& graph,
                      const IndexVector<SwitchIdx, Guid>& guids,
                      const std::vector<SwitchIdx>& island,
                      std::span<const SwitchIdx> roots,
                      IndexVector<SwitchIdx, std::uint32_t>& rank);

/// Turns from down to up, ordered pairs of links of one switch, that `rank` forbids in the island.
[[nodiscard]] std::uint64_t count_forbidden_turns(
    const SwitchGraph& graph,
    const IndexVector<SwitchIdx, Guid>& guids,
    const std::vector<SwitchIdx>& island,
    const IndexVector<SwitchIdx, std::uint32_t>& rank);

// Which switch to orient an island from, when nobody says.

/// By trial. Requires: the island is not empty.
[[nodiscard]] SwitchIdx choose_root(const SwitchGraph& graph,
                                    const IndexVector<SwitchIdx, Guid>& guids,
                                    const Targets& targets,
                                    const std::vector<SwitchIdx>& island);

/// Whether a sample of the traffic flows as well over legal routes by `rank` as by `other`.
/// Requires: either leaves one top on the island, which is not empty.
[[nodiscard]] bool flows_as_well(const SwitchGraph& graph,
                                 const IndexVector<SwitchIdx, Guid>& guids,
                                 const Targets& targets,
                                 const std::vector<SwitchIdx>& island,
                                 const IndexVector<SwitchIdx, std::uint32_t>& rank,
                                 const IndexVector<SwitchIdx, std::uint32_t>& other);

/// The switch whose farthest switch is nearest; of several the one with the shortest mean distance,
/// then the smallest GUID. Of a large island only an even sample is measured. Requires: the island
/// is not empty.
[[nodiscard]] SwitchIdx find_central(const SwitchGraph& graph,
                                     const IndexVector<SwitchIdx, Guid>& guids,
                                     const std::vector<SwitchIdx>& island);

}  // namespace smd

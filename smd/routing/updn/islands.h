// One top for every island: switches are ordered by (rank, GUID), and one without an up link is a
// top. From several of them none could reach another.
#pragma once

#include <cstdint>
#include <vector>

#include "smd/routing/graph/switch_graph.h"
#include "smd/routing/tables.h"

namespace smd {

/// The connected parts of the graph, each ascending, in order of their first switch.
[[nodiscard]] std::vector<std::vector<SwitchIdx>> find_islands(const SwitchGraph& graph);

/// Switches of the island without an up link, upmost first.
[[nodiscard]] std::vector<SwitchIdx> find_tops(const SwitchGraph& graph,
                                               const IndexVector<SwitchIdx, Guid>& guids,
                                               const std::vector<SwitchIdx>& island,
                                               const IndexVector<SwitchIdx, std::uint32_t>& rank);

/// Gives the island one top again, turning as few links around as it can. Returns the switches that
/// changed places with others; each keeps its order towards all the rest.
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

// Where levels are given:
//
// Levels alone leave as many tops as there are cores, and no core could reach another: the path
// leads down and up again. So one leaf is lifted: it becomes the top, and the links on its paths up
// to the cores are turned round.
//
//   C1 C2 over A1 over L1, L2     becomes     L1 over A1 over C1, C2, L2
//
// Up from L1 is down now. Every route between hosts that climbs and descends by levels still
// climbs, then descends: it meets the turned links first and as links down, or last and as links
// up.
//
// What the leaf cannot climb to, since links are missing, hangs below a switch that can get there,
// turned likewise.

/// By switch; up leads to the lower rank, then to the lower GUID. A function of the graph alone:
/// what is lost and comes back leaves no trace.
/// `level`: how far a switch stands above the leaves, 0 at these. `hosts`: of leaves with hosts the
/// one with the lowest GUID is the top.
/// Ensures: one top per island.
[[nodiscard]] IndexVector<SwitchIdx, std::uint32_t> rank_by_levels(
    const SwitchGraph& graph,
    const IndexVector<SwitchIdx, Guid>& guids,
    const IndexVector<SwitchIdx, std::uint32_t>& hosts,
    const IndexVector<SwitchIdx, std::uint32_t>& level);

}  // namespace smd

// Which way is up where levels are given, so that switches of the top level reach each other too.
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
#pragma once

#include <cstdint>

#include "smd/routing/graph/switch_graph.h"
#include "smd/routing/tables.h"

namespace smd {

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

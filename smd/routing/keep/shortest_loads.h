// What channels carry under tables of shortest paths.
#pragma once

#include <cstdint>
#include <vector>

#include "smd/routing/keep/destinations.h"
#include "smd/routing/tables.h"

namespace smd {

/// By edge: paths to the LIDs base + `offset` of all targets, by what they draw and cost.
/// Requires: the entries make no loop, and those to LIDs at one switch are equally long.
[[nodiscard]] std::vector<std::uint64_t> count_shortest_loads(
    const SwitchGraph& graph,
    const Targets& targets,
    const IndexVector<SwitchIdx, std::uint32_t>& sources,
    const std::vector<std::uint32_t>& costs,
    const std::vector<Destination>& destinations,
    const ForwardingTables& tables,
    unsigned offset);

}  // namespace smd

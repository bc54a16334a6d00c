// Breaking the cycles of a lane where it costs least.
#pragma once

#include <span>

#include "smd/routing/layers/lane_graph.h"

namespace smd {

/// Leaves in the lane a set of dependencies without cycles, taken greedily: those with most uses
/// first, equal ones by number. Those that are on no cycle all stay.
/// `uses`: by dependency; those in the lane have at least one.
/// Requires: sort() has just failed. Ensures: the order is topological.
/// Where the search for cycles takes longer than `budget`, more than necessary go.
void keep_heaviest(const Dependencies& dependencies,
                   std::span<const std::uint32_t> uses,
                   LaneGraph& lane,
                   std::uint64_t budget);

}  // namespace smd

// Paths where a closed form has none, because a link or a switch is missing: around the hole, on
// lanes of their own.
//
// A switch without a next hop hands over to a neighbour whose own path arrives. Every pair of
// switches whose path, either way, meets such a switch gets a lane beyond those of the closed form,
// on which the paths of the pairs that share it have no cyclic dependencies: that is tried pair by
// pair. What the closed form carries on its own lanes is left as its deadlock argument wants it.
#pragma once

#include <vector>

#include "smd/base/result.h"
#include "smd/routing/shape/hop_table.h"

namespace smd {

struct Detour {
  SwitchIdx a, b;     // both ways
  std::uint8_t lane;  // from 0
};

struct Detours {
  std::vector<Detour> pairs;
  unsigned lanes = 0;
};

/// Fills what is missing in `hops`.
/// Requires: hops that are there never lead round in a circle; all switches are connected.
/// Ensures: every switch reaches every column. Fails when `most_lanes` are not enough.
[[nodiscard]] Result<Detours> find_detours(const Fabric& fabric,
                                           const NeighbourGraph& graph,
                                           const Columns& columns,
                                           unsigned most_lanes,
                                           HopTable& hops);

}  // namespace smd

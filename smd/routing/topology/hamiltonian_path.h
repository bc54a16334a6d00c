// A path through all switches, each met once.
#pragma once

#include <vector>

#include "smd/base/result.h"
#include "smd/routing/topology/neighbour_graph.h"

namespace smd {

/// Meshes and tori without missing switches: row by row, every other one backwards. Other graphs,
/// and grids that miss a cable there: by extension and rotation, for as long as a few hundred times
/// the number of switches; what is found depends on the seed. Unsupported when nothing is.
[[nodiscard]] Result<std::vector<SwitchIdx>> find_hamiltonian_path(const Fabric& fabric,
                                                                   const NeighbourGraph& graph,
                                                                   std::uint64_t seed);

}  // namespace smd

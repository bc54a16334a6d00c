// Dragonflies with complete groups, recognised from the bare graph: two switches of a group have
// all the rest of it as common neighbours, two of different groups hardly anybody.
#pragma once

#include <string>
#include <vector>

#include "smd/base/result.h"
#include "smd/routing/topology/neighbour_graph.h"

namespace smd {

struct DragonflyShape {
  IndexVector<SwitchIdx, std::uint32_t> group;  // of every switch
  std::vector<std::vector<SwitchIdx>> members;  // by group, by GUID
  std::uint32_t global_trunk = 0;               // links between two groups, at most
};

/// Groups are numbered by their smallest GUID. Links or switches may be missing, as long as a group
/// stays in one piece.
/// Ensures: at least two groups, of at least two switches each unless some are missing.
[[nodiscard]] Result<DragonflyShape> recognise_dragonfly(const Fabric& fabric,
                                                         const NeighbourGraph& graph);
[[nodiscard]] Result<DragonflyShape> recognise_dragonfly(const Fabric& fabric);

/// "dragonfly of 9 groups of 4, 1 link between groups".
[[nodiscard]] std::string print_dragonfly(const DragonflyShape& dragonfly);

}  // namespace smd

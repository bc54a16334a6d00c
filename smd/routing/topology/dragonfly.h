// Dragonflies with complete groups, recognised from the bare graph: two switches of a group have
// all the rest of it as common neighbours, two of different groups hardly anybody.
#pragma once

#include <string>
#include <vector>

#include "smd/base/result.h"
#include "smd/routing/topology/neighbour_graph.h"

namespace smd {

struct LatticeRecord;

struct DragonflyShape {
  IndexVector<SwitchIdx, std::uint32_t> group;  // of every switch
  IndexVector<SwitchIdx, std::uint32_t> place;  // in its group, where others may be missing
  std::vector<std::vector<SwitchIdx>> members;  // by group, by place
  std::uint32_t places = 0;                     // that a group has
  std::uint32_t global_trunk = 0;               // links between two groups, at most
};

/// Groups are numbered by their smallest GUID, and places in them by GUID; with a record of before
/// by that, where it has as many groups and most switches keep their number and place. Links or
/// switches may be missing, as long as a group stays in one piece.
/// Ensures: at least two groups, of at least two switches each unless some are missing.
[[nodiscard]] Result<DragonflyShape> recognise_dragonfly(const Fabric& fabric,
                                                         const NeighbourGraph& graph,
                                                         const LatticeRecord* before = nullptr);
[[nodiscard]] Result<DragonflyShape> recognise_dragonfly(const Fabric& fabric);

/// Groups, then places in them.
[[nodiscard]] LatticeRecord record_dragonfly(const Fabric& fabric, const DragonflyShape& dragonfly);

/// "dragonfly of 9 groups of 4, 1 link between groups".
[[nodiscard]] std::string print_dragonfly(const DragonflyShape& dragonfly);

}  // namespace smd

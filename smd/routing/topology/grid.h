// Meshes and tori, recognised from the bare graph, also with links or switches missing.
//
// In a grid every 4-cycle is the product of two links of different dimensions, so its opposite
// links belong to one dimension. That relation leaves one class of links for every pair of
// neighbouring hyperplanes; classes that meet at switches and never span a 4-cycle lie in one
// dimension, one after the other. A ring of four is itself a 4-cycle: it comes out as two
// dimensions of two.
#pragma once

#include <string>

#include "smd/base/result.h"
#include "smd/routing/topology/dimensions.h"
#include "smd/routing/topology/neighbour_graph.h"

namespace smd {

struct GridShape {
  Lattice lattice;
  std::vector<char> wraps;  // by dimension: a ring, not a line

  [[nodiscard]] bool torus() const {
    for (const char w : wraps) {
      if (w) return true;
    }
    return false;
  }
};

/// Longest side first; of equal ones that whose neighbours have the nearer GUIDs. Coordinates rise
/// with the GUIDs of most switches, and a ring begins at the hyperplane with the lowest ones, so
/// that the loss of a switch or a cable moves nothing.
/// Ensures: two switches are cabled only when their cells are neighbours.
[[nodiscard]] Result<GridShape> recognise_grid(const Fabric& fabric, const NeighbourGraph& graph);
[[nodiscard]] Result<GridShape> recognise_grid(const Fabric& fabric);

/// "torus 8 x 8", "mesh 4 x 4 x 2, 1 switch missing".
[[nodiscard]] std::string print_grid(const GridShape& grid);

}  // namespace smd

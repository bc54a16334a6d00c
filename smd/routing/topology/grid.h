// Lattices of switches, recognised from the bare graph.
#pragma once

#include <string>

#include "smd/base/result.h"
#include "smd/routing/topology/dimensions.h"
#include "smd/routing/topology/neighbour_graph.h"

namespace smd {

struct LatticeRecord;

// Meshes and tori, recognised from the bare graph, also with links or switches missing.
//
// In a grid every 4-cycle is the product of two links of different dimensions, so its opposite
// links belong to one dimension. That relation leaves one class of links for every pair of
// neighbouring hyperplanes; classes that meet at switches and never span a 4-cycle lie in one
// dimension, one after the other. A ring of four is itself a 4-cycle: it comes out as two
// dimensions of two.

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
/// with the GUIDs of most switches, and a ring begins at the hyperplane with the lowest ones. None
/// of that goes by cables, so the loss of one moves nothing; that of a switch can turn a majority,
/// so where `before` is given and most switches are where they were they keep their cells.
/// Ensures: two switches are cabled only when their cells are neighbours.
[[nodiscard]] Result<GridShape> recognise_grid(const Fabric& fabric,
                                               const NeighbourGraph& graph,
                                               const LatticeRecord* before = nullptr);
[[nodiscard]] Result<GridShape> recognise_grid(const Fabric& fabric);

/// "torus 8 x 8", "mesh 4 x 4 x 2, 1 switch missing".
[[nodiscard]] std::string print_grid(const GridShape& grid);

// Hamming graphs (flattened butterfly, HyperX), recognised from the bare graph: switches are cabled
// exactly when their cells differ in one coordinate. Links of one triangle lie in one dimension,
// and so do opposite links of a 4-cycle.

struct HammingShape {
  Lattice lattice;
  std::vector<std::uint32_t> trunk;  // by dimension: cables between two neighbours, at most
};

/// Longest side first; of equal ones that in whose line the switch with the lowest GUID has the
/// nearest one. Coordinates rise with the GUIDs of most switches. Links or switches may be missing.
/// `before` as for grids.
/// Ensures: two switches are cabled only when their cells differ in one coordinate.
[[nodiscard]] Result<HammingShape> recognise_hamming(const Fabric& fabric,
                                                     const NeighbourGraph& graph,
                                                     const LatticeRecord* before = nullptr);
[[nodiscard]] Result<HammingShape> recognise_hamming(const Fabric& fabric);

/// "Hamming graph 16 x 6, trunks 1 x 3, 1 switch missing".
[[nodiscard]] std::string print_hamming(const HammingShape& hamming);

}  // namespace smd

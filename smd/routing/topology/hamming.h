// Hamming graphs (flattened butterfly, HyperX), recognised from the bare graph: switches are cabled
// exactly when their cells differ in one coordinate. Links of one triangle lie in one dimension,
// and so do opposite links of a 4-cycle.
#pragma once

#include <string>

#include "smd/base/result.h"
#include "smd/routing/topology/dimensions.h"
#include "smd/routing/topology/neighbour_graph.h"

namespace smd {

struct HammingShape {
  Lattice lattice;
  std::vector<std::uint32_t> trunk;  // by dimension: cables between two neighbours, at most
};

/// Longest side first. Links or switches may be missing.
/// Ensures: two switches are cabled only when their cells differ in one coordinate.
[[nodiscard]] Result<HammingShape> recognise_hamming(const Fabric& fabric,
                                                     const NeighbourGraph& graph);
[[nodiscard]] Result<HammingShape> recognise_hamming(const Fabric& fabric);

/// "Hamming graph 16 x 6, trunks 1 x 3, 1 switch missing".
[[nodiscard]] std::string print_hamming(const HammingShape& hamming);

}  // namespace smd

// Switches at the cells of a box with several dimensions: what meshes, tori and Hamming graphs have
// in common.
#pragma once

#include <vector>

#include "smd/base/index_vector.h"
#include "smd/fabric/fabric.h"

namespace smd {

struct Lattice {
  std::vector<std::uint32_t> sides;  // cells in each dimension, at least 2

  /// Numbered with the first coordinate as the most significant.
  IndexVector<SwitchIdx, std::uint32_t> cell;

  std::vector<SwitchIdx> at;  // by cell; kNone: nobody is there

  [[nodiscard]] std::size_t dimensions() const { return sides.size(); }

  [[nodiscard]] std::size_t cells() const { return at.size(); }

  /// Cells from one coordinate of dimension d to the next.
  [[nodiscard]] std::uint32_t stride(std::size_t d) const {
    std::uint32_t cells = 1;
    for (std::size_t e = d + 1; e < sides.size(); ++e) cells *= sides[e];
    return cells;
  }

  [[nodiscard]] std::uint32_t coordinate(SwitchIdx sw, std::size_t d) const {
    return cell[sw] / stride(d) % sides[d];
  }

  [[nodiscard]] bool full() const { return cell.size() == at.size(); }
};

}  // namespace smd

// From links whose dimension is known to coordinates: where each switch stands in a grid or Hamming
// graph.
#pragma once

#include <functional>
#include <vector>

#include "smd/base/index_vector.h"
#include "smd/base/result.h"
#include "smd/fabric/fabric.h"
#include "smd/routing/topology/neighbour_graph.h"

namespace smd {

// Switches at the cells of a box with several dimensions: what meshes, tori and Hamming graphs have
// in common.

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

// From "this link lies in that dimension" to coordinates: switches that stay connected without the
// links of a dimension have the same coordinate in it.

inline constexpr std::uint32_t kNowhere = 0xffffffff;

/// Dimension of every link, or kNowhere for links that nothing is known of.
struct Dimensions {
  std::vector<std::uint32_t> of;
  std::uint32_t count = 0;
};

/// The classes that are large enough: a dimension of a product has a link for every second switch
/// at least. What damage has torn off its class is smaller.
[[nodiscard]] Dimensions keep_large(const LinkClasses& classes, const NeighbourGraph& graph);

/// The hyperplane of each dimension that a switch is in; hyperplanes are numbered by their lowest
/// GUIDs.
struct Hyperplanes {
  std::vector<std::uint32_t> count;  // by dimension
  std::vector<std::uint32_t> of;     // switch by switch; kNowhere in all for switches out of place

  [[nodiscard]] std::uint32_t number(SwitchIdx sw, std::size_t d) const {
    return of[sw.value() * count.size() + d];
  }
};

/// What a dimension is by itself.
enum class LineKind : std::uint8_t {
  Row,      // a line or a ring
  Complete  // everybody joined to everybody
};

/// Pieces of a hyperplane that damage has split are found by the hyperplanes next to them. Switches
/// that it has torn off are out of place.
[[nodiscard]] Hyperplanes find_hyperplanes(const NeighbourGraph& graph,
                                           const Dimensions& dimensions,
                                           LineKind kind);

/// Whether switches at two cells may be cabled.
using AreNeighbours = std::function<bool(std::uint32_t, std::uint32_t)>;

/// Puts the switches where `position` (by dimension, by hyperplane) says, those out of place where
/// their neighbours leave a cell free.
/// Ensures: one switch at a cell, at half of the cells at least, and cables only between
/// neighbours.
[[nodiscard]] Result<Lattice> place_switches(
    const Fabric& fabric,
    const NeighbourGraph& graph,
    const Hyperplanes& hyperplanes,
    const std::vector<std::vector<std::uint32_t>>& position,
    const std::function<AreNeighbours(const Lattice&)>& neighbours);

}  // namespace smd

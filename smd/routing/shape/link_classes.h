// Which links of a graph lie in one dimension, if it is a product of simpler graphs: those of one
// triangle do, and so do opposite links of a 4-cycle. Nothing that is missing from such a graph can
// make these say too much, only too little.
#pragma once

#include <cstdint>
#include <vector>

#include "smd/base/result.h"
#include "smd/routing/shape/neighbour_graph.h"

namespace smd {

/// Two neighbours of a switch, as places in around(), and how they are joined besides.
struct Corner {
  enum class Kind : std::uint8_t { Triangle, Square };

  Kind kind;
  std::uint32_t a, b;          // a < b
  std::uint32_t far_a, far_b;  // links: of a triangle the one from a to b, twice; of a square
                               // those from a and from b to the fourth switch
};

/// Visits the corners at one switch after the other.
class CornerSearch {
 public:
  explicit CornerSearch(const NeighbourGraph& graph);

  /// Valid until the next call.
  [[nodiscard]] const std::vector<Corner>& find(SwitchIdx sw);

  /// Somebody who is no neighbour of the switch last asked for, but a neighbour of three of its
  /// neighbours that are none of each other: no product of lines, rings and complete graphs has
  /// such. kNone otherwise.
  [[nodiscard]] SwitchIdx crowded() const { return crowded_; }

 private:
  struct Seen {
    SwitchIdx by = kNone<SwitchIdx>;      // the switch that this was found for
    std::uint32_t place = 0;              // its neighbour
    std::uint32_t link = 0;               // from there
    SwitchIdx second = kNone<SwitchIdx>;  // another neighbour that leads there
  };

  [[nodiscard]] bool are_strangers(SwitchIdx a, SwitchIdx b) const;

  const NeighbourGraph& graph_;
  IndexVector<SwitchIdx, SwitchIdx> near_;  // whose neighbour a switch was last found to be …
  IndexVector<SwitchIdx, std::uint32_t> place_;  // … and at which place
  IndexVector<SwitchIdx, Seen> seen_;
  std::vector<Corner> corners_;
  SwitchIdx crowded_ = kNone<SwitchIdx>;
};

/// Sets of numbers that grow together; the smallest member stands for a set.
class DisjointSets {
 public:
  explicit DisjointSets(std::size_t count);

  [[nodiscard]] std::uint32_t find(std::uint32_t member);

  /// Returns false when they were together before.
  bool join(std::uint32_t a, std::uint32_t b);

 private:
  std::vector<std::uint32_t> parent_;
};

/// Class of every link, numbered from 0 in the order of their first links; `count` of them.
struct LinkClasses {
  std::vector<std::uint32_t> of;
  std::uint32_t count = 0;
};

/// Fails when two switches have more neighbours in common than a product allows.
[[nodiscard]] Result<LinkClasses> classify_links(const Fabric& fabric, const NeighbourGraph& graph);

}  // namespace smd

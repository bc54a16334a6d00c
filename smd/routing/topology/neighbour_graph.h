// The bare graph that topologies are recognised in, and the classes of its links.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "smd/base/result.h"
#include "smd/fabric/fabric.h"
#include "smd/routing/graph/disjoint_sets.h"

namespace smd {

// The bare graph that shapes are recognised in: who is cabled to whom, parallel cables counted
// once. Nothing here depends on the numbers of ports or on the order in which nodes were found.

/// One side of a link, which is all the cables between two switches.
struct Neighbour {
  SwitchIdx to;
  std::uint32_t link;  // the same number from both sides
};

class NeighbourGraph {
 public:
  explicit NeighbourGraph(const Fabric& fabric);

  [[nodiscard]] std::size_t switches() const { return first_.size() - 1; }

  [[nodiscard]] std::size_t links() const { return links_; }

  /// By GUID.
  [[nodiscard]] std::span<const Neighbour> around(SwitchIdx sw) const {
    return {neighbours_.data() + first_[sw.value()], neighbours_.data() + first_[sw.value() + 1]};
  }

  /// Number of around(sw).front() among all sides of links.
  [[nodiscard]] std::uint32_t first(SwitchIdx sw) const { return first_[sw.value()]; }

  [[nodiscard]] std::size_t sides() const { return neighbours_.size(); }

  /// Ports of the cables on that side, ascending.
  [[nodiscard]] std::span<const PortNum> ports(std::uint32_t side) const {
    return {ports_.data() + first_port_[side], ports_.data() + first_port_[side + 1]};
  }

  /// Place of the switch's GUID among those of all switches.
  [[nodiscard]] std::uint32_t rank(SwitchIdx sw) const { return rank_[sw]; }

  [[nodiscard]] const std::vector<SwitchIdx>& by_guid() const { return by_guid_; }

  /// Place of `to` among around(sw).
  [[nodiscard]] std::optional<std::uint32_t> find(SwitchIdx sw, SwitchIdx to) const;

  /// A switch that cables do not connect with the first one; kNone when there is none.
  [[nodiscard]] SwitchIdx find_island() const;

 private:
  IndexVector<SwitchIdx, std::uint32_t> rank_;
  std::vector<SwitchIdx> by_guid_;
  std::vector<std::uint32_t> first_;  // switches + 1 entries
  std::vector<Neighbour> neighbours_;
  std::vector<std::uint32_t> first_port_;  // sides + 1 entries
  std::vector<PortNum> ports_;
  std::size_t links_ = 0;
};

/// "sw-0-3", by description where there is one, else by GUID.
[[nodiscard]] std::string print_switch(const Fabric& fabric, SwitchIdx sw);

// Which links of a graph lie in one dimension, if it is a product of simpler graphs: those of one
// triangle do, and so do opposite links of a 4-cycle. Nothing that is missing from such a graph can
// make these say too much, only too little.

/// Two neighbours of a switch, as places in around(), and how they are joined besides.
struct Corner {
  enum class Kind : std::uint8_t { Triangle, Square };

  Kind kind;
  std::uint32_t a, b;                    // a < b
  std::uint32_t opposite_a, opposite_b;  // links: of a triangle the one from a to b, twice; of a
                                         // square those from a and from b to the fourth switch
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

/// Class of every link, numbered from 0 in the order of their first links; `count` of them.
struct LinkClasses {
  std::vector<std::uint32_t> of;
  std::uint32_t count = 0;
};

/// Fails when two switches have more neighbours in common than a product allows.
[[nodiscard]] Result<LinkClasses> classify_links(const Fabric& fabric, const NeighbourGraph& graph);

// hamiltonian_path.cpp: a path through all switches, each met once.

/// Meshes and tori without missing switches: row by row, every other one backwards. Other graphs,
/// and grids that miss a cable there: by extension and rotation, for as long as a few hundred times
/// the number of switches; what is found depends on the seed. Unsupported when nothing is.
[[nodiscard]] Result<std::vector<SwitchIdx>> find_hamiltonian_path(const Fabric& fabric,
                                                                   const NeighbourGraph& graph,
                                                                   std::uint64_t seed);

}  // namespace smd

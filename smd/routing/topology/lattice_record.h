// Where switches stand in a lattice that routes go by, kept from one change to the next: which
// coordinate is called 0, which way it rises and which dimension comes first are no property of the
// cabling, and routes follow from them.
#pragma once

#include <optional>
#include <utility>
#include <vector>

#include "smd/routing/topology/dimensions.h"
#include "smd/routing/topology/neighbour_graph.h"

namespace smd {

struct LatticeRecord {
  std::vector<std::uint32_t> sides;
  std::vector<char>
      wraps;  // by dimension: a ring, not a line; empty: everybody of a line is joined
  std::vector<std::pair<Guid, std::uint32_t>> cells;  // of the switches that were there, by GUID
};

[[nodiscard]] LatticeRecord record_lattice(const Fabric& fabric,
                                           const NeighbourGraph& graph,
                                           const Lattice& lattice,
                                           std::vector<char> wraps);

/// What the places of a lattice are to be called.
struct PlaceNames {
  std::vector<std::size_t> order;                      // the dimension that comes first, and so on
  std::vector<std::vector<std::uint32_t>> coordinate;  // by dimension as it is, by coordinate
};

[[nodiscard]] Lattice rename_places(const NeighbourGraph& graph,
                                    const Lattice& lattice,
                                    const PlaceNames& names);

/// Names by which switches keep their cells: `wraps` as in the record. Of a ring or a line they
/// leave neighbours next to each other. Nothing, where sides are others or where not most switches
/// would keep theirs.
[[nodiscard]] std::optional<PlaceNames> find_names_before(const Fabric& fabric,
                                                          const NeighbourGraph& graph,
                                                          const Lattice& lattice,
                                                          const std::vector<char>& wraps,
                                                          const LatticeRecord& before);

}  // namespace smd

// Where switches stand in a lattice that routes go by, kept from one change to the next and over a
// restart: which coordinate is called 0, which way it rises and which dimension comes first are no
// property of the cabling, and routes follow from them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "smd/fabric/fabric.h"

namespace smd {

struct Lattice;
class NeighbourGraph;

struct LatticeRecord {
  std::string engine;  // whose shape it is; empty: there is none
  std::vector<std::uint32_t> sides;
  std::vector<char>
      wraps;  // by dimension: a ring, not a line; empty: everybody of a line is joined
  std::vector<std::pair<Guid, std::uint32_t>> cells;  // of the switches that were there, by GUID

  friend bool operator==(const LatticeRecord&, const LatticeRecord&) = default;
};

[[nodiscard]] LatticeRecord record_lattice(std::string_view engine,
                                           const Fabric& fabric,
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

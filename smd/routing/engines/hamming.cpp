// Dimension order on Hamming graphs: flattened butterfly, HyperX.
#include <algorithm>
#include <memory>
#include <numeric>
#include <utility>

#include "smd/routing/engines/engines.h"
#include "smd/routing/topology/grid.h"
#include "smd/routing/topology/lattice_record.h"
#include "smd/routing/topology/topology_tables.h"

namespace smd {
namespace {

// Corrects the first coordinate that differs, in one hop. No hop where that link is missing.
void fill_hops(const NeighbourGraph& graph,
               const Lattice& lattice,
               SwitchIdx sw,
               std::span<std::uint8_t> row) {
  const auto around = graph.around(sw);
  std::uint32_t begin = 0;
  for (std::size_t d = 0; d < lattice.dimensions(); ++d) {
    const std::uint32_t block = lattice.stride(d);
    const std::uint32_t own = lattice.coordinate(sw, d);
    for (std::uint8_t i = 0; i < around.size(); ++i) {
      const std::uint32_t x = lattice.coordinate(around[i].to, d);
      if (x != own) std::fill_n(row.data() + begin + std::size_t{x} * block, block, i);
    }
    begin += own * block;
  }
  row[begin] = kHere;
}

constexpr std::uint32_t kMostPlaces = 64;

/// Places to go by, one after the other: the coordinates of place i are i modulo the sides. As many
/// as have every coordinate equally often, if that is not too many.
std::uint32_t count_places(const Lattice& lattice) {
  std::uint64_t count = 1;
  for (const std::uint32_t side : lattice.sides) {
    count = std::min<std::uint64_t>(std::lcm(count, side), kMostPlaces + 1);
  }
  return static_cast<std::uint32_t>(count <= kMostPlaces ? count : std::ranges::max(lattice.sides));
}

/// Corrects the first coordinate that differs by way of the place's: in one hop to there and in one
/// more to the destination's.
class HopsByPlaces {
 public:
  HopsByPlaces(const NeighbourGraph& graph, const Lattice& lattice, std::uint32_t places)
      : graph_(graph), lattice_(lattice), places_(places) {}

  [[nodiscard]] std::uint32_t of_each() const { return 1 + places_; }

  /// Which dimension a hop changes.
  [[nodiscard]] std::size_t dimension(SwitchIdx sw, std::uint8_t hop) const {
    const SwitchIdx to = graph_.around(sw)[hop].to;
    std::size_t d = 0;
    while (lattice_.coordinate(sw, d) == lattice_.coordinate(to, d)) ++d;
    return d;
  }

  /// `minimal` has a column for each cell, `out` of_each() for each.
  void fill(SwitchIdx sw,
            std::span<const std::uint8_t> minimal,
            std::span<std::uint8_t> out) const {
    std::vector<std::vector<std::uint8_t>> to(lattice_.dimensions());
    for (std::size_t d = 0; d < to.size(); ++d) to[d].assign(lattice_.sides[d], kNoHop);
    const auto around = graph_.around(sw);
    for (std::uint8_t hop = 0; hop < around.size(); ++hop) {
      const std::size_t d = dimension(sw, hop);
      to[d][lattice_.coordinate(around[hop].to, d)] = hop;
    }
    for (std::size_t cell = 0; cell < lattice_.cells(); ++cell) {
      const std::span<std::uint8_t> columns = out.subspan(cell * of_each(), of_each());
      std::ranges::fill(columns, minimal[cell]);
      if (minimal[cell] == kHere) continue;
      const SwitchIdx end = lattice_.at[cell];
      if (end == kNone<SwitchIdx>) continue;
      std::size_t d = 0;
      while (lattice_.coordinate(sw, d) == lattice_.coordinate(end, d)) ++d;
      const std::uint32_t own = lattice_.coordinate(sw, d);
      for (std::uint32_t place = 0; place < places_; ++place) {
        const std::uint32_t by = place % lattice_.sides[d];
        if (by != own) columns[1 + place] = to[d][by];
      }
    }
  }

 private:
  const NeighbourGraph& graph_;
  const Lattice& lattice_;
  std::uint32_t places_;
};

class Hamming final : public Engine {
 public:
  std::string_view name() const override { return "hamming"; }

  std::string_view contract() const override {
    return "Hamming graphs (flattened butterfly, HyperX) of any sides, with any number of parallel "
           "cables in each dimension, recognised by their cables alone, also with links or "
           "switches missing. Corrects one coordinate after the other, each in one hop; parallel "
           "cables take turns, destination by destination. 1 VL and any SL, minimal. Free of "
           "deadlock: channels of a dimension wait for those of later ones only. Where a link or "
           "a switch is missing paths go around it, on the same VL as long as that closes no cycle "
           "(tried hop by hop), else on further VLs (mostly one), each free of cyclic dependencies "
           "by trial, and the SL of a path says so. With sm.non_minimal LIDs of a port beyond the "
           "first correct each coordinate by way of another one, in two hops, the second on VL 1: "
           "channels of a dimension wait for those of its VL 1 and of later dimensions only; a "
           "damaged graph has minimal paths to all LIDs. Source: minimal routing of the flattened "
           "butterfly (Kim, Dally and Abts, 2007), by a random place (Valiant and "
           "Brebner, 1981) dimension by dimension.";
  }

 private:
  Result<RoutingTables> compute_new(const Fabric& fabric,
                                    const LidMap& lids,
                                    const RoutingRequest& request) const override {
    const NeighbourGraph graph{fabric};
    const Result<HammingShape> hamming =
        recognise_hamming(fabric, graph, find_lattice_before(request, name()));
    if (!hamming) return fail(Errc::Unsupported, "no Hamming graph: " + hamming.error().context);
    const auto cells = static_cast<std::uint32_t>(hamming->lattice.cells());
    HopTable hops(graph.switches(), cells);
    for (const SwitchIdx sw : graph.by_guid()) fill_hops(graph, hamming->lattice, sw, hops.row(sw));
    ShapeRoutes routes{.engine = name(),
                       .shape = print_hamming(*hamming),
                       .columns = {.first = hamming->lattice.cell, .count = cells},
                       .hops = std::move(hops),
                       .lattice = std::make_shared<const LatticeRecord>(
                           record_lattice(name(), fabric, graph, hamming->lattice, {})),
                       .sls = std::nullopt,
                       .rows = {},
                       .row_of = {}};
    routes.columns.cell = hamming->lattice.cell;
    if (!wants_other_ways(lids, request)) {
      return finish_tables(fabric, lids, request, graph, std::move(routes));
    }
    const bool whole = hamming->lattice.full() && is_whole(graph, routes.hops);
    const HopsByPlaces by_places(graph, hamming->lattice, count_places(hamming->lattice));
    add_places(graph, by_places, whole, routes);
    auto tables = finish_tables(fabric, lids, request, graph, std::move(routes));
    if (tables) tables->notes.push_back(describe_other_ways(whole));
    return tables;
  }

  static void add_places(const NeighbourGraph& graph,
                         const HopsByPlaces& by_places,
                         bool whole,
                         ShapeRoutes& routes) {
    const std::uint32_t each = by_places.of_each();
    HopTable hops(graph.switches(), routes.columns.count * each);
    for (const SwitchIdx sw : graph.by_guid()) {
      by_places.fill(sw, std::as_const(routes.hops).row(sw), hops.row(sw));
    }
    routes.hops = std::move(hops);
    for (const SwitchIdx sw : graph.by_guid()) routes.columns.first[sw] *= each;
    routes.columns.count *= each;
    routes.columns.others = each - 1;
    routes.others_follow = !whole;
    routes.regular_vls = 2;
    routes.rows.resize(2);
    routes.rows[1].fill(1);
    routes.row_of = [&by_places](SwitchIdx sw, std::uint8_t in, std::uint8_t out) -> std::size_t {
      return in != kHere && by_places.dimension(sw, in) == by_places.dimension(sw, out) ? 1 : 0;
    };
  }
};

}  // namespace

const Engine& hamming_engine() {
  static const Hamming engine;
  return engine;
}

}  // namespace smd

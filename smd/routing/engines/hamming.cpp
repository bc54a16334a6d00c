// Dimension order on Hamming graphs: flattened butterfly, HyperX.
#include <algorithm>

#include "smd/routing/engines/engines.h"
#include "smd/routing/topology/hamming.h"
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

class Hamming final : public Engine {
 public:
  std::string_view name() const override { return "hamming"; }

  std::string_view contract() const override {
    return "Hamming graphs (flattened butterfly, HyperX) of any sides, with any number of parallel "
           "cables in each dimension, recognised by their cables alone, also with links or "
           "switches missing. Corrects one coordinate after the other, each in one hop; parallel "
           "cables take turns, destination by destination. 1 VL and any SL, minimal. Free of "
           "deadlock: channels of a dimension wait for those of later ones only. Where a link or "
           "a switch is missing paths go around it on further VLs (mostly one), each free of "
           "cyclic dependencies by trial, and the SL of a path says so. Source: minimal routing of "
           "the flattened butterfly (Kim, Dally and Abts, 2007).";
  }

 private:
  Result<RoutingTables> compute_new(const Fabric& fabric,
                                    const LidMap& lids,
                                    const RoutingRequest& request) const override {
    const NeighbourGraph graph{fabric};
    const Result<HammingShape> hamming = recognise_hamming(fabric, graph);
    if (!hamming) return fail(Errc::Unsupported, "no Hamming graph: " + hamming.error().context);
    const auto cells = static_cast<std::uint32_t>(hamming->lattice.cells());
    HopTable hops(graph.switches(), cells);
    for (const SwitchIdx sw : graph.by_guid()) fill_hops(graph, hamming->lattice, sw, hops.row(sw));
    Columns columns{.first = hamming->lattice.cell, .count = cells};
    return finish_tables(fabric,
                         lids,
                         request,
                         graph,
                         {.engine = name(),
                          .shape = print_hamming(*hamming),
                          .columns = std::move(columns),
                          .hops = std::move(hops),
                          .sls = std::nullopt,
                          .rows = {},
                          .row_of = {}});
  }
};

}  // namespace

const Engine& hamming_engine() {
  static const Hamming engine;
  return engine;
}

}  // namespace smd

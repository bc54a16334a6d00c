// Up or down the labels of a Hamiltonian path.
#include <fmt/core.h>

#include <algorithm>

#include "smd/routing/engines/engines.h"
#include "smd/routing/topology/neighbour_graph.h"
#include "smd/routing/topology/topology_tables.h"

namespace smd {
namespace {

/// Next hops to one switch after the other. `path` is the switches by label.
class LabelRoutes {
 public:
  LabelRoutes(const NeighbourGraph& graph, const std::vector<SwitchIdx>& path)
      : path_(path), first_(path.size() + 1, 0), distance_(path.size(), 0) {
    std::vector<std::uint32_t> label(path.size());
    for (std::uint32_t l = 0; l < path.size(); ++l) label[path[l].value()] = l;
    for (std::uint32_t l = 0; l < path.size(); ++l) {
      const auto around = graph.around(path[l]);
      for (std::uint8_t i = 0; i < around.size(); ++i)
        candidates_.push_back({label[around[i].to.value()], i});
      std::sort(candidates_.begin() + static_cast<std::ptrdiff_t>(first_[l]),
                candidates_.end(),
                [](Candidate a, Candidate b) { return a.label < b.label; });
      first_[l + 1] = candidates_.size();
    }
  }

  // The label rises, or falls, all the way and never passes the destination's. Of the shortest such
  // paths the one whose next label is nearest to it.
  void fill(std::uint32_t to, std::uint32_t column, HopTable& hops) {
    hops.row(path_[to])[column] = kHere;
    distance_[to] = 0;
    for (std::uint32_t l = to; l-- > 0;) {
      const Candidate* best = nullptr;
      for (std::size_t w = first_[l]; w < first_[l + 1]; ++w) {
        const Candidate& candidate = candidates_[w];
        if (candidate.label < l || candidate.label > to) continue;
        if (best == nullptr || distance_[candidate.label] <= distance_[best->label])
          best = &candidate;
      }
      distance_[l] = distance_[best->label] + 1;
      hops.row(path_[l])[column] = best->place;
    }
    for (std::uint32_t l = to + 1; l < path_.size(); ++l) {
      const Candidate* best = nullptr;
      for (std::size_t w = first_[l]; w < first_[l + 1]; ++w) {
        const Candidate& candidate = candidates_[w];
        if (candidate.label > l || candidate.label < to) continue;
        if (best == nullptr || distance_[candidate.label] < distance_[best->label])
          best = &candidate;
      }
      distance_[l] = distance_[best->label] + 1;
      hops.row(path_[l])[column] = best->place;
    }
  }

 private:
  struct Candidate {
    std::uint32_t label;
    std::uint8_t place;
  };

  const std::vector<SwitchIdx>& path_;
  std::vector<std::size_t> first_;     // by label
  std::vector<Candidate> candidates_;  // by label, ascending by the label that they lead to
  std::vector<std::uint32_t> distance_;
};

class Hamiltonian final : public Engine {
 public:
  std::string_view name() const override { return "hamiltonian"; }

  std::string_view contract() const override {
    return "Any fabric in whose switches a path is found that meets each once: always in meshes "
           "and "
           "tori without missing switches, which are walked row by row, back and forth; in others "
           "by search. Switches are labelled along the path. A route's labels rise all the way, or "
           "fall, and never pass the destination's; of the shortest such routes the one that goes "
           "furthest at each hop, which on a mesh is minimal. 1 VL, any SL. Free of deadlock: "
           "rising channels wait for rising ones with higher labels, falling ones for falling ones "
           "with lower labels. The same labels serve multicast. Source: Hamiltonian routing (Lin, "
           "McKinley and Ni, 1994).";
  }

 private:
  Result<RoutingTables> compute_new(const Fabric& fabric,
                                    const LidMap& lids,
                                    const RoutingRequest& request) const override {
    const NeighbourGraph graph{fabric};
    const Result<std::vector<SwitchIdx>> path = find_hamiltonian_path(fabric, graph, request.seed);
    if (!path) return tl::unexpected<Error>(path.error());
    const auto switches = static_cast<std::uint32_t>(graph.switches());
    Columns columns{.first = IndexVector<SwitchIdx, std::uint32_t>(switches), .count = switches};
    for (std::uint32_t l = 0; l < switches; ++l) columns.first[(*path)[l]] = l;
    columns.cell = columns.first;
    ShapeRoutes routes{.engine = name(),
                       .shape = fmt::format("a path through {} switches", switches),
                       .columns = std::move(columns),
                       .hops = {switches, switches},
                       .sls = std::nullopt,
                       .rows = {},
                       .row_of = {}};
    LabelRoutes form{graph, *path};
    for (std::uint32_t l = 0; l < switches; ++l) form.fill(l, l, routes.hops);
    return finish_tables(fabric, lids, request, graph, std::move(routes));
  }
};

}  // namespace

const Engine& hamiltonian_engine() {
  static const Hamiltonian engine;
  return engine;
}

}  // namespace smd

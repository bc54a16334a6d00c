#include "smd/routing/keep/even_legal.h"

#include <algorithm>
#include <utility>

#include "smd/routing/keep/load_aim.h"
#include "smd/routing/keep/load_change.h"
#include "smd/routing/keep/relief.h"
#include "smd/routing/spread.h"

namespace smd {
namespace {

// Following so many paths takes about as long as counting all.
constexpr std::size_t kManyChanges = 16;

bool count_alike(const OrientedFabric& oriented, const std::vector<Destination>& destinations) {
  return highest_lmc(oriented.targets) == 0 &&
         std::ranges::all_of(oriented.costs, [](std::uint32_t cost) { return cost == 1; }) &&
         std::ranges::all_of(destinations, [](const Destination& to) {
           return to.draws == (to.weighs && to.last != kNone<SwitchIdx> ? 1u : 0u);
         });
}

IndexVector<SwitchIdx, std::uint32_t> list_sources(const RouteState& routes) {
  IndexVector<SwitchIdx, std::uint32_t> sources;
  for (const SwitchIdx sw : routes.oriented().guids.indices())
    sources.push_back(static_cast<std::uint32_t>(routes.own_paths(sw)));
  return sources;
}

class LegalTrees final : public MovableTrees {
 public:
  explicit LegalTrees(const LegalTables& of)
      : of_(of), touched_(of.routes.list_touched()), by_port_(of.changes.before.size() * 256) {
    std::ranges::fill(by_port_, kNoWay);
    for (std::size_t lid = 0; lid < of.destinations.size(); ++lid) {
      if (of.destinations[lid].draws != 0) lids_.push_back(Lid{static_cast<std::uint16_t>(lid)});
    }
    const SwitchGraph& graph = of.routes.oriented().graph;
    for (const SwitchIdx sw : of.changes.before.indices()) {
      std::uint32_t position = graph.first_edge(sw);
      for (const SwitchEdge& edge : graph.edges(sw))
        by_port_[sw.value() * std::size_t{256} + edge.port.value()] = position++;
    }
  }

  [[nodiscard]] std::uint32_t count() const override {
    return static_cast<std::uint32_t>(lids_.size());
  }

  [[nodiscard]] SwitchIdx root(std::uint32_t tree) const override {
    return of_.destinations[lids_[tree].value()].last;
  }

  [[nodiscard]] std::uint32_t draws(std::uint32_t tree) const override {
    return of_.destinations[lids_[tree].value()].draws;
  }

  [[nodiscard]] std::uint32_t edge(std::uint32_t tree, SwitchIdx sw) const override {
    return by_port_[sw.value() * std::size_t{256} + of_.tables.route(sw, lids_[tree]).value()];
  }

  [[nodiscard]] bool has_changed(std::uint32_t tree) const override {
    return std::ranges::binary_search(touched_, lids_[tree]);
  }

  [[nodiscard]] bool has_changed(std::uint32_t tree, SwitchIdx sw) const override {
    const SwitchIdx row = of_.changes.before[sw];
    const ForwardingTables& before = of_.before.routing->lft;
    return row == kNone<SwitchIdx> || lids_[tree] > before.top() ||
           before.route(row, lids_[tree]) != of_.tables.route(sw, lids_[tree]);
  }

  /// Who descends goes on descending, as somebody above may count on it; who climbs may go either
  /// way.
  [[nodiscard]] bool take(std::uint32_t tree, SwitchIdx sw, std::uint32_t edge) override {
    const Lid lid = lids_[tree];
    const PortNum port = of_.routes.oriented().graph.edge(edge).port;
    const RouteState::Hop hop = of_.routes.hop(sw, port);
    const bool legal =
        hop.up ? of_.routes.next(sw, lid).up : of_.routes.descent(hop.to, lid) != kUnreached;
    if (legal) of_.routes.set(sw, lid, port);
    return legal;
  }

 private:
  const LegalTables& of_;
  const std::vector<Lid> touched_;  // ascending
  std::vector<Lid> lids_;           // ascending
  std::vector<std::uint32_t> by_port_;
};

}  // namespace

std::vector<std::uint64_t> find_changed_loads(const LegalTables& of) {
  const OrientedFabric& oriented = of.routes.oriented();
  const LoadRecord& known = of.before.routing->load;
  if (known.by_edge.empty() || !count_alike(oriented, of.destinations) ||
      known.basis != compute_load_basis(oriented.guids, oriented.targets, of.destinations))
    return {};
  const SwitchGraph graph_before{*of.before.fabric};
  if (known.by_edge.size() != graph_before.edge_count()) return {};
  const IndexVector<SwitchIdx, std::uint32_t> sources = list_sources(of.routes);
  LoadChange change{{graph_before, of.before.routing->lft},
                    {oriented.graph, of.tables},
                    of.changes,
                    sources,
                    of.destinations};
  const std::vector<Entries::Change> changed = of.routes.list_changes();
  const std::size_t all = oriented.graph.switches() * of.destinations.size();
  if (!change.is_known() || changed.size() * kManyChanges >= all) return {};
  return change.apply(known.by_edge, changed);
}

LoadRecord even_legal(const LegalTables& of, std::vector<std::uint64_t> load) {
  const OrientedFabric& oriented = of.routes.oriented();
  if (!count_alike(oriented, of.destinations)) return {};
  const Evenness& goal = of.before.routing->load.evenness;
  const bool is_known = goal.peak > 0 && goal.channels >= load.size();
  if (is_known && of.relieve) {
    LegalTrees trees{of};
    Traffic traffic{.sources = list_sources(of.routes),
                    .draws = IndexVector<SwitchIdx, std::uint64_t>(oriented.graph.switches(), 0)};
    for (std::uint32_t tree = 0; tree < trees.count(); ++tree) ++traffic.draws[trees.root(tree)];
    const std::uint64_t least = find_least_peak(oriented.graph, traffic, oriented.costs, load);
    Relief{oriented.graph, traffic.sources, oriented.costs, load, trees}.run(
        find_load_aim(least, goal, load).enough, Relief::Which::All);
  }
  LoadRecord after = record_legal_loads(oriented, of.destinations, std::move(load));
  after.evenness = carry_evenness(goal, after.by_edge);
  return after;
}

LoadRecord record_legal_loads(const OrientedFabric& oriented,
                              const std::vector<Destination>& destinations,
                              std::vector<std::uint64_t> load) {
  if (!count_alike(oriented, destinations)) return {};
  LoadRecord record{.evenness = measure_evenness(load)};
  record.by_edge = std::move(load);
  record.basis = compute_load_basis(oriented.guids, oriented.targets, destinations);
  return record;
}

}  // namespace smd

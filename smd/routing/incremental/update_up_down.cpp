#include "smd/routing/incremental/update_up_down.h"

#include <algorithm>
#include <span>
#include <utility>

#include "smd/routing/incremental/changes.h"
#include "smd/routing/incremental/channel_loads.h"
#include "smd/routing/incremental/repair.h"
#include "smd/routing/trees/load_balancer.h"
#include "smd/routing/trees/rebalance.h"
#include "smd/routing/updn/islands.h"
#include "smd/routing/updn/up_down.h"

namespace smd {
namespace {

// Following so many paths takes about as long as counting all.
constexpr std::size_t kManyChanges = 16;

Lid last_entry(const ForwardingTables& tables) {
  return Lid{static_cast<std::uint16_t>(tables.blocks() * kLftBlockSize - 1)};
}

bool count_alike(const OrientedFabric& oriented, const std::vector<Destination>& destinations) {
  return highest_lmc(oriented.targets) == 0 &&
         std::ranges::all_of(oriented.costs, [](std::uint32_t cost) { return cost == 1; }) &&
         std::ranges::all_of(destinations, [](const Destination& to) {
           return to.demand == (to.weighs && to.last != kNone<SwitchIdx> ? 1u : 0u);
         });
}

/// What packets do that turn up again is not counted, as the routes of another manager may.
bool counts_all(const LegalTables& of) {
  return !of.before.routing->orientation.rank.empty() &&
         count_alike(of.routes.oriented(), of.destinations);
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
    std::ranges::fill(by_port_, kNoEdge);
    for (std::size_t lid = 0; lid < of.destinations.size(); ++lid) {
      const Destination& to = of.destinations[lid];
      if (to.demand != 0 && to.base.value() == lid) lids_.push_back(to.base);
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

  [[nodiscard]] std::uint32_t demand(std::uint32_t tree) const override {
    return of_.destinations[lids_[tree].value()].demand;
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
    if (!keeps_lids_apart(of_.destinations, of_.tables, sw, lid, port)) return false;
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

class UpDownUpdate {
 public:
  UpDownUpdate(const Fabric& fabric,
               const LidMap& lids,
               const OrientedFabric& oriented,
               const PreviousRoutes& before,
               PortChanges changes)
      : fabric_(fabric),
        oriented_(oriented),
        before_(before),
        changes_(std::move(changes)),
        tables_(copy_tables(before.routing->lft, changes_.before, lids.top)),
        destinations_(list_destinations(oriented.targets, last_lid())),
        fresh_(find_new_lids(fabric, lids, before, destinations_)),
        suspects_(destinations_.size()),
        routes_(oriented, destinations_, tables_) {}

  bool is_worth_it() const { return are_worth_keeping(destinations_, fresh_, changes_.before); }

  UpdatedRoutes run(const RoutingRequest& request) {
    find_suspects();
    leave_loop_backs();
    GainedLinks rebalancer{routes_};
    repair_suspects(request.options.shorten_detours ? &rebalancer : nullptr);
    route_fresh();
    if (!changes_.gained.empty()) {
      for (std::size_t value = 1; value < destinations_.size(); ++value) {
        if (destinations_[value].last != kNone<SwitchIdx> && !fresh_[value])
          rebalancer.shorten(Lid{static_cast<std::uint16_t>(value)}, changes_.gained);
      }
    }
    LoadRecord load = even(rebalancer, request.rebalance);
    return {
        .lft = std::move(tables_), .recomputed = routes_.list_touched(), .load = std::move(load)};
  }

 private:
  // Where loads are not known from before, a loss is not worth counting them.
  LoadRecord even(GainedLinks& rebalancer, bool rebalance) {
    const LegalTables of{.routes = routes_,
                         .tables = tables_,
                         .destinations = destinations_,
                         .before = before_,
                         .changes = changes_,
                         .rebalance = rebalance || !changes_.gained.empty(),
                         .at_rest = rebalance};
    if (before_.routing->orientation.rank.empty() && !rebalance) return {};
    std::vector<std::uint64_t> load = find_changed_loads(of);
    if (load.empty() && !of.rebalance) return {.imbalance = before_.routing->load.imbalance};
    ChannelLoads loads =
        load.empty() ? ChannelLoads{routes_, last_lid()} : ChannelLoads{routes_, load};
    fill_gained(rebalancer, loads);
    return rebalance_up_down(of, loads.by_edge(routes_));
  }

  void fill_gained(GainedLinks& rebalancer, ChannelLoads& loads) {
    for (const PortChanges::Gained& link : changes_.gained)
      rebalancer.fill(link, last_lid(), loads);
    for (const PortChanges::Gained& link : changes_.gained)
      rebalancer.attract(link, last_lid(), loads);
  }

  [[nodiscard]] Lid last_lid() const { return last_entry(tables_); }

  void find_suspects() {
    for (const SwitchIdx sw : changes_.before.indices()) {
      const bool is_new = changes_.before[sw] == kNone<SwitchIdx>;
      if (!is_new && changes_.suspect[sw].none()) continue;
      const std::span<const PortNum> row = tables_.row(sw);
      for (std::size_t value = 1; value < destinations_.size(); ++value) {
        if (fresh_[value] || (!is_new && !changes_.suspect[sw][row[value].value()])) continue;
        if (destinations_[value].last != kNone<SwitchIdx>) {
          suspects_[value].push_back(sw);
        } else if (!is_new) {
          withdraw_unless_harmless(sw, Lid{static_cast<std::uint16_t>(value)});
        }
      }
    }
  }

  void leave_loop_backs() {
    for (const auto& [sw, port] : find_loopback_links(fabric_)) {
      for (std::size_t value = 1; value < destinations_.size(); ++value) {
        const Lid lid{static_cast<std::uint16_t>(value)};
        if (destinations_[value].last == kNone<SwitchIdx> && routes_.egress(sw, lid) == port)
          routes_.set(sw, lid, kNoRoute);
      }
    }
  }

  void repair_suspects(GainedLinks* rebalancer) {
    RouteRepair route_repair{routes_};
    std::optional<PreviousLengths> old;
    if (rebalancer != nullptr) old.emplace(before_, changes_.before);
    std::vector<SwitchIdx> detours;
    for (std::size_t value = 1; value < destinations_.size(); ++value) {
      if (suspects_[value].empty()) continue;
      const Lid lid{static_cast<std::uint16_t>(value)};
      routes_.clear_changes();
      route_repair.repair(lid, suspects_[value]);
      if (rebalancer != nullptr) {
        detours.clear();
        for (const RouteState::Change& change : routes_.changes()) {
          if (routes_.length(change.sw, lid) > old->length(change.sw, lid))
            detours.push_back(change.sw);
        }
        if (!detours.empty()) rebalancer->rebalance(lid, detours);
      }
      route_repair.restore(lid, rebalancer == nullptr);
    }
  }

  // Packets to a LID that nobody has may follow old entries as long as they only descend: they end
  // where a port is dead.
  void withdraw_unless_harmless(SwitchIdx sw, Lid lid) {
    RouteState::Hop hop = routes_.next(sw, lid);
    while (hop.to != kNone<SwitchIdx> && !hop.up) hop = routes_.next(hop.to, lid);
    if (hop.to != kNone<SwitchIdx>) routes_.set(sw, lid, kNoRoute);
  }

  void route_fresh() {
    UpDownSearch search{oriented_.up_down};
    NextHops hops;
    for (const SwitchIdx last : oriented_.targets.of.indices()) {
      bool searched = false;
      for (const Target& target : oriented_.targets.of[last]) {
        for (unsigned offset = 0; offset < 1u << target.lmc; ++offset) {
          const Lid lid{static_cast<std::uint16_t>(target.base.value() + offset)};
          if (!fresh_[lid.value()]) continue;
          if (!searched) search.find(last, hops);
          searched = true;
          route(lid, last, target.egress, hops);
        }
      }
    }
  }

  void route(Lid lid, SwitchIdx last, PortNum egress, const NextHops& hops) {
    routes_.clear_changes();
    std::vector<char> reaches(changes_.before.size(), 0);
    reaches[last.value()] = 1;
    routes_.set(last, lid, egress);
    for (std::size_t i = 0; i < hops.order.size(); ++i) {
      const SwitchIdx sw = hops.order[i];
      reaches[sw.value()] = 1;
      const std::span<const std::uint32_t> candidates{hops.edges.data() + hops.first[i],
                                                      hops.edges.data() + hops.first[i + 1]};
      const PortNum now = routes_.egress(sw, lid);
      const bool is_best =
          std::any_of(candidates.begin(), candidates.end(), [&](std::uint32_t edge) {
            return oriented_.graph.edge(edge).port == now;
          });
      if (!is_best) routes_.set(sw, lid, routes_.choose(sw, lid, candidates));
    }
    for (const SwitchIdx sw : changes_.before.indices()) {
      if (!reaches[sw.value()]) routes_.set(sw, lid, kNoRoute);
    }
  }

  const Fabric& fabric_;
  const OrientedFabric& oriented_;
  const PreviousRoutes& before_;
  const PortChanges changes_;
  ForwardingTables tables_;
  const std::vector<Destination> destinations_;
  const std::vector<char> fresh_;
  std::vector<std::vector<SwitchIdx>> suspects_;
  RouteState routes_;
};

}  // namespace

PreviousLengths::PreviousLengths(const PreviousRoutes& before,
                                 const IndexVector<SwitchIdx, SwitchIdx>& row_before)
    : before_(before),
      row_before_(row_before),
      last_(before.routing->lft.blocks() * kLftBlockSize, kNone<SwitchIdx>) {
  const SwitchGraph graph{*before.fabric};
  for (const SwitchIdx sw : before.fabric->switch_node.indices()) {
    const std::size_t first = hops_.size();
    first_hop_.push_back(static_cast<std::uint32_t>(first));
    const auto edges = graph.edges(sw);
    if (!edges.empty()) hops_.resize(first + edges.back().port.value() + 1u, kNone<SwitchIdx>);
    for (const SwitchEdge& edge : edges) hops_[first + edge.port.value()] = edge.to;
  }
  first_hop_.push_back(static_cast<std::uint32_t>(hops_.size()));
  const Targets targets = find_targets(*before.fabric, *before.lids);
  for (const SwitchIdx sw : targets.of.indices()) {
    for (const Target& target : targets.of[sw]) {
      for (unsigned offset = 0; offset < 1u << target.lmc; ++offset) {
        if (target.base.value() + offset < last_.size()) last_[target.base.value() + offset] = sw;
      }
    }
  }
}

std::uint32_t PreviousLengths::length(SwitchIdx sw, Lid lid) const {
  SwitchIdx at = row_before_[sw];
  if (at == kNone<SwitchIdx> || lid.value() >= last_.size()) return kUnreached;
  const std::size_t most = before_.fabric->switch_count();
  for (std::uint32_t links = 0; links < most; ++links) {
    if (at == last_[lid.value()]) return links;
    const std::uint32_t hop = first_hop_[at.value()] + before_.routing->lft.route(at, lid).value();
    if (hop >= first_hop_[at.value() + 1] || hops_[hop] == kNone<SwitchIdx>) return kUnreached;
    at = hops_[hop];
  }
  return kUnreached;
}

std::vector<std::uint64_t> find_changed_loads(const LegalTables& of) {
  const OrientedFabric& oriented = of.routes.oriented();
  const LoadRecord& known = of.before.routing->load;
  if (known.by_edge.empty() || !counts_all(of)) return {};
  const SwitchGraph graph_before{*of.before.fabric};
  if (known.by_edge.size() != graph_before.edge_count()) return {};
  const Targets targets_before = find_targets(*of.before.fabric, *of.before.lids);
  const std::vector<Destination> destinations_before =
      list_destinations(targets_before, last_entry(of.before.routing->lft));
  if (known.basis !=
      compute_load_basis(list_switch_guids(*of.before.fabric), targets_before, destinations_before))
    return {};
  const IndexVector<SwitchIdx, std::uint32_t> sources = list_sources(of.routes);
  const bool hosts_exist =
      std::ranges::any_of(targets_before.hosts, [](std::uint32_t hosts) { return hosts != 0; });
  const IndexVector<SwitchIdx, std::uint32_t> sources_before =
      hosts_exist ? targets_before.hosts
                  : IndexVector<SwitchIdx, std::uint32_t>(graph_before.switches(), 1);
  LoadChange change{{graph_before, of.before.routing->lft, sources_before, destinations_before},
                    {oriented.graph, of.tables, sources, of.destinations},
                    of.changes};
  const std::vector<Entries::Change> changed = of.routes.list_changes();
  const std::size_t all = oriented.graph.switches() * of.destinations.size();
  if (!change.is_known() || changed.size() * kManyChanges >= all) return {};
  return change.apply(known.by_edge, changed);
}

LoadRecord rebalance_up_down(const LegalTables& of, std::vector<std::uint64_t> load) {
  const OrientedFabric& oriented = of.routes.oriented();
  const bool alike = counts_all(of);
  if (!alike && !of.at_rest) return {};
  const Imbalance& goal = of.before.routing->load.imbalance;
  const bool is_known = goal.peak > 0 && goal.channels >= load.size();
  if (of.rebalance && (is_known || goal.peak == 0 || !alike)) {
    LegalTrees trees{of};
    Traffic traffic{.sources = list_sources(of.routes),
                    .demand = IndexVector<SwitchIdx, std::uint64_t>(oriented.graph.switches(), 0)};
    for (std::uint32_t tree = 0; tree < trees.count(); ++tree)
      traffic.demand[trees.root(tree)] += trees.demand(tree);
    LoadRebalancer rebalancer{oriented.graph, traffic.sources, oriented.costs, load, trees};
    if (!alike) {
      load.assign(oriented.graph.edge_count(), 0);
      rebalancer.count_loads();
    }
    const std::uint64_t least = find_least_peak(oriented.graph, traffic, oriented.costs, load);
    const LoadTarget aim = find_load_target(least, goal, load);
    if (of.at_rest && goal.peak == 0) {
      rebalancer.run_from_scratch(aim.best);
    } else {
      rebalancer.run(of.at_rest ? aim.best : aim.enough, LoadRebalancer::Which::All);
    }
  }
  if (!alike) return {};
  LoadRecord after = record_legal_loads(oriented, of.destinations, std::move(load));
  after.imbalance = carry_imbalance(goal, after.by_edge);
  return after;
}

LoadRecord record_legal_loads(const OrientedFabric& oriented,
                              const std::vector<Destination>& destinations,
                              std::vector<std::uint64_t> load) {
  if (!count_alike(oriented, destinations)) return {};
  LoadRecord record{.imbalance = measure_imbalance(load)};
  record.by_edge = std::move(load);
  record.basis = compute_load_basis(oriented.guids, oriented.targets, destinations);
  return record;
}

std::optional<UpdatedRoutes> update_up_down(const Fabric& fabric,
                                            const LidMap& lids,
                                            const OrientedFabric& oriented,
                                            const PreviousRoutes& in_force,
                                            const RoutingRequest& request) {
  const Fabric& before = *in_force.fabric;
  if (in_force.routing->lft.switches() != before.switch_count() || before.switch_count() == 0)
    return std::nullopt;
  PortChanges changes = find_port_changes(before, in_force.routing->orientation, fabric, oriented);
  // Islands that grow together have no routes to each other that could be kept.
  if (!changes.gained.empty() && find_islands(SwitchGraph{before}).size() > 1) return std::nullopt;
  UpDownUpdate update{fabric, lids, oriented, in_force, std::move(changes)};
  if (!update.is_worth_it()) return std::nullopt;
  return update.run(request);
}

}  // namespace smd

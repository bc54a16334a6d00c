#include "smd/routing/incremental/rebalance_shortest.h"

#include <algorithm>
#include <cstring>
#include <span>
#include <utility>

#include "smd/routing/incremental/channel_loads.h"
#include "smd/routing/trees/load_balancer.h"
#include "smd/routing/trees/rebalance.h"

namespace smd {
namespace {

constexpr std::uint32_t kNowhere = 0xffffffff;

class Counter {
 public:
  Counter(const SwitchGraph& graph,
          const IndexVector<SwitchIdx, std::uint32_t>& sources,
          const ForwardingTables& tables)
      : graph_(graph), sources_(sources), tables_(tables), depth_(graph.switches()) {
    for (const SwitchIdx sw : sources.indices()) {
      const auto edges = graph.edges(sw);
      first_.push_back(static_cast<std::uint32_t>(hops_.size()));
      if (!edges.empty()) hops_.resize(hops_.size() + edges.back().port.value() + 1u);
      std::uint32_t position = graph.first_edge(sw);
      for (const SwitchEdge& edge : edges)
        hops_[first_.back() + edge.port.value()] = {edge.to.value(), position++};
    }
    first_.push_back(static_cast<std::uint32_t>(hops_.size()));
    carried_.assign(hops_.size(), 0);
    for (const SwitchIdx sw : sources.indices()) {
      if (sources[sw] != 0) senders_.push_back(sw.value());
    }
  }

  /// LIDs at `last`, and the demand of each.
  void count(SwitchIdx last, std::span<const Lid> lids, std::span<const std::uint32_t> demand) {
    sort_by_depth(last, lids);
    // Padded to whole words of four.
    width_ = (lids.size() + kStep - 1) / kStep * kStep;
    flow_.assign(depth_.size() * width_, 0);
    for (const std::uint32_t sw : senders_)
      std::fill_n(flow_.begin() + static_cast<std::ptrdiff_t>(sw * width_),
                  lids.size(),
                  static_cast<std::uint16_t>(sources_[SwitchIdx{sw}]));
    // Once, but where a switch that nobody sends from takes a longer way for the first LID: what
    // others hand to it comes after its turn then, and goes on the next time.
    bool left = true;
    for (std::size_t turn = 0; left && turn < order_.size(); ++turn) {
      left = false;
      for (std::size_t at = order_.size(); at-- > 1;) {
        if (at > kAhead) fetch(order_[at - kAhead], lids);
        left = hand_over(order_[at], lids, demand) || left;
      }
    }
  }

  [[nodiscard]] std::vector<std::uint64_t> by_edge(const std::vector<std::uint32_t>& costs) const {
    std::vector<std::uint64_t> load(graph_.edge_count(), 0);
    for (std::size_t at = 0; at < hops_.size(); ++at) {
      if (hops_[at].edge != kNowhere) load[hops_[at].edge] = carried_[at] * costs[hops_[at].edge];
    }
    return load;
  }

 private:
  static constexpr std::size_t kStep = 4;
  // Every row is in another page, which takes longer to reach than to read.
  static constexpr std::size_t kAhead = 12;

  void fetch(std::uint32_t sw, std::span<const Lid> lids) const {
    const PortNum* const row = tables_.row(SwitchIdx{sw}).data();
    __builtin_prefetch(row + lids.front().value());
    __builtin_prefetch(row + lids.back().value());
  }

  /// True: somebody whose turn is over has got some of it.
  bool hand_over(std::uint32_t sw,
                 std::span<const Lid> lids,
                 std::span<const std::uint32_t> demand) {
    const PortNum* const row = tables_.row(SwitchIdx{sw}).data();
    const Hop* const hops = hops_.data() + first_[sw];
    std::uint64_t* const carried = carried_.data() + first_[sw];
    std::uint16_t* const flows = flow_.data();
    std::uint16_t* const flow = flows + sw * width_;
    bool left = false;
    for (std::size_t begin = 0; begin < lids.size(); begin += kStep) {
      // Most switches in the middle carry few of the LIDs.
      if (std::uint64_t any; std::memcpy(&any, flow + begin, sizeof any), any == 0) continue;
      const std::size_t end = std::min(begin + kStep, lids.size());
      for (std::size_t j = begin; j < end; ++j) {
        if (flow[j] == 0) continue;
        const std::size_t port = row[lids[j].value()].value();
        carried[port] += std::uint64_t{flow[j]} * demand[j];
        std::uint16_t& onward = flows[hops[port].to * width_ + j];
        onward = static_cast<std::uint16_t>(onward + flow[j]);
        flow[j] = 0;
        left = left || depth_[hops[port].to] >= depth_[sw];
      }
    }
    return left;
  }

  struct Hop {
    std::uint32_t to = kNowhere;
    std::uint32_t edge = kNowhere;
  };

  [[nodiscard]] std::uint32_t next(std::uint32_t sw, Lid lid) const {
    const std::uint32_t at = first_[sw] + tables_.route(SwitchIdx{sw}, lid).value();
    return at < first_[sw + 1] ? hops_[at].to : kNowhere;
  }

  /// order_: `last`, then who reaches it, near to far.
  void sort_by_depth(SwitchIdx last, std::span<const Lid> lids) {
    const Lid lid = lids.front();
    std::ranges::fill(depth_, kUnreached);
    depth_[last.value()] = 0;
    std::vector<std::uint32_t>& count = count_;
    count.assign(2, 0);
    count[1] = 1;
    for (std::uint32_t start = 0; start < depth_.size(); ++start) {
      if (start + kAhead < depth_.size()) fetch(start + kAhead, lids);
      path_.clear();
      std::uint32_t sw = start;
      while (sw != kNowhere && depth_[sw] == kUnreached) {
        path_.push_back(sw);
        sw = next(sw, lid);
      }
      if (sw == kNowhere || depth_[sw] == kDead) {
        for (const std::uint32_t passed : path_) depth_[passed] = kDead;
        continue;
      }
      std::uint32_t depth = depth_[sw];
      for (std::size_t at = path_.size(); at-- > 0;) {
        depth_[path_[at]] = ++depth;
        if (count.size() < depth + 2) count.resize(depth + 2, 0);
        ++count[depth + 1];
      }
    }
    for (std::size_t depth = 1; depth < count.size(); ++depth) count[depth] += count[depth - 1];
    order_.resize(count.back());
    for (std::uint32_t sw = 0; sw < depth_.size(); ++sw) {
      if (depth_[sw] < kDead) order_[count[depth_[sw]]++] = sw;
    }
  }

  static constexpr std::uint32_t kDead = kUnreached - 1;  // does not get there

  const SwitchGraph& graph_;
  const IndexVector<SwitchIdx, std::uint32_t>& sources_;
  const ForwardingTables& tables_;
  std::vector<std::uint32_t> first_;  // by switch, one more than there are
  std::vector<Hop> hops_;             // by port
  std::vector<std::uint64_t> carried_;
  std::vector<std::uint32_t> depth_, order_, path_, count_;
  std::vector<std::uint32_t> senders_;
  std::size_t width_ = 0;
  std::vector<std::uint16_t> flow_;  // switch-major; there are fewer than 2^16 LIDs to send from
};

// Following so many paths takes about as long as counting all.
constexpr std::size_t kManyChanges = 16;

// Loads are handed on where they are the same for everybody: one LID per port, links of one speed.
bool are_plain(const Targets& targets, const std::vector<std::uint32_t>& costs) {
  return highest_lmc(targets) == 0 &&
         std::ranges::all_of(costs, [](std::uint32_t cost) { return cost == 1; });
}

IndexVector<SwitchIdx, std::uint32_t> list_own_paths(const ShortestTables& routes,
                                                     const Entries& entries) {
  IndexVector<SwitchIdx, std::uint32_t> out(routes.graph.switches(), 0);
  for (const SwitchIdx sw : out.indices()) out[sw] = entries.own_paths(sw);
  return out;
}

Traffic sum_traffic(const ShortestTables& routes, const Entries& entries, const LftTrees& trees) {
  Traffic traffic{.sources = list_own_paths(routes, entries),
                  .demand = IndexVector<SwitchIdx, std::uint64_t>(routes.graph.switches(), 0)};
  for (std::uint32_t tree = 0; tree < trees.count(); ++tree)
    traffic.demand[trees.root(tree)] += trees.demand(tree);
  return traffic;
}

/// Paths to any one LID that begin at each switch, see Entries::own_paths().
IndexVector<SwitchIdx, std::uint32_t> list_sources(const Targets& targets) {
  const bool hosts_exist =
      std::ranges::any_of(targets.hosts, [](std::uint32_t hosts) { return hosts != 0; });
  return hosts_exist ? targets.hosts
                     : IndexVector<SwitchIdx, std::uint32_t>(targets.hosts.size(), 1);
}

Lid last_entry(const ForwardingTables& tables) {
  return Lid{static_cast<std::uint16_t>(tables.blocks() * kLftBlockSize - 1)};
}

/// Out of those of the routes in force, by what differs. Empty where these are not known, or too
/// much does.
std::vector<std::uint64_t> find_changed_loads(const ShortestTables& routes,
                                              const TablesInForce& before,
                                              const IndexVector<SwitchIdx, std::uint32_t>& senders,
                                              const Entries& entries) {
  const auto& [fabric, lids, routing] = before.routes;
  const LoadRecord& known = routing->load;
  if (known.by_edge.empty() || known.by_edge.size() != before.graph.edge_count() ||
      !are_plain(routes.targets, routes.costs))
    return {};
  const Targets targets = find_targets(*fabric, *lids);
  const std::vector<Destination> destinations =
      list_destinations(targets, last_entry(routing->lft));
  if (known.basis != compute_load_basis(list_switch_guids(*fabric), targets, destinations))
    return {};
  const IndexVector<SwitchIdx, std::uint32_t> sources = list_sources(targets);
  LoadChange change{{before.graph, routing->lft, sources, destinations},
                    {routes.graph, routes.tables, senders, routes.destinations},
                    before.changes};
  const std::vector<Entries::Change> changed = entries.list_changes();
  const std::size_t all = routes.graph.switches() * routes.destinations.size();
  if (!change.is_known() || changed.size() * kManyChanges >= all) return {};
  return change.apply(known.by_edge, changed);
}

std::vector<std::uint64_t> find_loads(const ShortestTables& routes,
                                      const TablesInForce& before,
                                      const Traffic& traffic,
                                      const Entries& entries,
                                      unsigned offset) {
  if (auto changed = find_changed_loads(routes, before, traffic.sources, entries); !changed.empty())
    return changed;
  return count_shortest_loads(routes.graph,
                              routes.targets,
                              traffic.sources,
                              routes.costs,
                              routes.destinations,
                              routes.tables,
                              offset);
}

}  // namespace

LftTrees::LftTrees(const SwitchGraph& graph,
                   const Targets& targets,
                   const std::vector<Destination>& destinations,
                   const ForwardingTables& tables,
                   Entries& entries,
                   const PreviousTables& before,
                   unsigned offset)
    : graph_(graph),
      destinations_(destinations),
      tables_(tables),
      entries_(entries),
      before_(before),
      by_port_(graph.switches() * 256, kNoEdge) {
  for (const SwitchIdx sw : targets.of.indices()) {
    for (const Target& target : targets.of[sw]) {
      const auto lid = static_cast<std::uint16_t>(target.base.value() + offset);
      if (offset < 1u << target.lmc && destinations[lid].demand != 0) lids_.push_back(Lid{lid});
    }
    std::uint32_t position = graph.first_edge(sw);
    for (const SwitchEdge& edge : graph.edges(sw))
      by_port_[sw.value() * std::size_t{256} + edge.port.value()] = position++;
  }
  std::ranges::sort(lids_);
}

bool LftTrees::take(std::uint32_t tree, SwitchIdx sw, std::uint32_t edge) {
  const Lid lid = lids_[tree];
  const PortNum to = graph_.edge(edge).port;
  if (!keeps_lids_apart(destinations_, tables_, sw, lid, to)) return false;
  entries_.set(sw, lid, to);
  return true;
}

std::vector<std::uint64_t> count_shortest_loads(
    const SwitchGraph& graph,
    const Targets& targets,
    const IndexVector<SwitchIdx, std::uint32_t>& sources,
    const std::vector<std::uint32_t>& costs,
    const std::vector<Destination>& destinations,
    const ForwardingTables& tables,
    unsigned offset) {
  Counter counter{graph, sources, tables};
  std::vector<Lid> lids;
  std::vector<std::uint32_t> demand;
  for (const SwitchIdx last : targets.of.indices()) {
    lids.clear();
    demand.clear();
    for (const Target& target : targets.of[last]) {
      if (offset >= 1u << target.lmc) continue;
      const Lid lid{static_cast<std::uint16_t>(target.base.value() + offset)};
      if (destinations[lid.value()].demand == 0) continue;
      lids.push_back(lid);
      demand.push_back(destinations[lid.value()].demand);
    }
    if (!lids.empty()) counter.count(last, lids, demand);
  }
  return counter.by_edge(costs);
}

LoadRecord rebalance_shortest(const IndexVector<SwitchIdx, Guid>& guids,
                              const ShortestTables& routes,
                              const TablesInForce& before,
                              Entries& entries) {
  LoadRecord after;
  const Imbalance& goal = before.routes.routing->load.imbalance;
  // Hosts that come and go move nobody else, and are not worth counting everybody; but the next
  // lost cable should not have to either.
  if (!before.changes.any() && !before.rebalance) {
    const std::uint64_t basis = compute_load_basis(guids, routes.targets, routes.destinations);
    if (entries.list_changes().empty() && before.routes.routing->load.basis == basis)
      return before.routes.routing->load;
    after.imbalance = goal;
    after.by_edge = find_changed_loads(routes, before, list_own_paths(routes, entries), entries);
    if (!after.by_edge.empty()) after.basis = basis;
    return after;
  }
  for (unsigned offset = 0; offset < 1u << highest_lmc(routes.targets); ++offset) {
    LftTrees trees{routes.graph,
                   routes.targets,
                   routes.destinations,
                   routes.tables,
                   entries,
                   {before.routes.routing->lft, before.changes.before},
                   offset};
    const Traffic traffic = sum_traffic(routes, entries, trees);
    std::vector<std::uint64_t> load = find_loads(routes, before, traffic, entries, offset);
    LoadTarget aim =
        find_load_target(find_least_peak(routes.graph, traffic, routes.costs, load), goal, load);
    if (before.rebalance) aim.enough = aim.best;
    LoadRebalancer rebalancer{routes.graph, traffic.sources, routes.costs, load, trees};
    if (before.rebalance && goal.peak == 0) {
      rebalancer.run_from_scratch(aim.best);
    } else {
      rebalancer.run(aim);
    }
    const Imbalance reached = carry_imbalance(goal, load);
    if (reached.peak > after.imbalance.peak) after.imbalance = reached;
    if (offset != 0 || !are_plain(routes.targets, routes.costs)) continue;
    after.by_edge = std::move(load);
    after.basis = compute_load_basis(guids, routes.targets, routes.destinations);
  }
  return after;
}

void move_loads(const SwitchGraph& graph,
                const Targets& targets,
                const ForwardingTables& before,
                const ForwardingTables& tables,
                std::span<const Lid> lids,
                LoadRecord& load) {
  if (lids.empty() || load.by_edge.empty()) return;
  PortChanges none;
  none.suspect.resize(graph.switches());
  std::vector<Entries::Change> changed;
  for (const SwitchIdx sw : none.suspect.indices()) none.before.push_back(sw);
  for (const Lid lid : lids) {
    for (const SwitchIdx sw : none.before) {
      if (before.route(sw, lid) != tables.route(sw, lid)) changed.push_back({lid, sw});
    }
  }
  const IndexVector<SwitchIdx, std::uint32_t> sources = list_sources(targets);
  const std::vector<Destination> destinations = list_destinations(targets, last_entry(tables));
  LoadChange change{
      {graph, before, sources, destinations}, {graph, tables, sources, destinations}, none};
  load.by_edge = change.apply(std::move(load.by_edge), changed);
}

LoadRecord record_loads(const IndexVector<SwitchIdx, Guid>& guids,
                        const Targets& targets,
                        const std::vector<std::uint32_t>& costs,
                        const std::vector<Destination>& destinations,
                        std::vector<std::uint64_t> load) {
  LoadRecord record{.imbalance = measure_imbalance(load)};
  if (!are_plain(targets, costs)) return record;
  record.by_edge = std::move(load);
  record.basis = compute_load_basis(guids, targets, destinations);
  return record;
}

}  // namespace smd

#include "smd/routing/incremental/channel_loads.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace smd {
namespace {

// Beside the number of the switch that a port leads to.
constexpr std::uint32_t kUp = 1u << 31;
constexpr std::uint32_t kNoSwitch = ~kUp;

// LIDs counted at once: a cache line of every row.
constexpr std::uint32_t kAtOnce = 64;

// FNV-1a, by whole words.
void mix(std::uint64_t& hash, std::uint64_t word) {
  hash = (hash ^ word) * 0x100000001b3u;
  hash ^= hash >> 29;
}

}  // namespace

void ChannelLoads::list_hops(const RouteState& routes) {
  for (const SwitchIdx sw : routes.oriented().guids.indices()) {
    first_.push_back(static_cast<std::uint32_t>(onward_.size()));
    for (const RouteState::Hop hop : routes.hops(sw))
      onward_.push_back(hop.to == kNone<SwitchIdx> ? kNoSwitch
                                                   : hop.to.value() | (hop.up ? kUp : 0));
  }
  first_.push_back(static_cast<std::uint32_t>(onward_.size()));
  load_.assign(onward_.size(), 0);
}

ChannelLoads::ChannelLoads(const RouteState& routes, std::span<const std::uint64_t> by_edge) {
  list_hops(routes);
  const SwitchGraph& graph = routes.oriented().graph;
  for (const SwitchIdx sw : routes.oriented().guids.indices()) {
    std::uint32_t position = graph.first_edge(sw);
    for (const SwitchEdge& edge : graph.edges(sw))
      load_[first_[sw.value()] + edge.port.value()] =
          static_cast<std::uint32_t>(by_edge[position++]);
  }
}

std::vector<std::uint64_t> ChannelLoads::by_edge(const RouteState& routes) const {
  std::vector<std::uint64_t> load;
  for (const SwitchIdx sw : routes.oriented().guids.indices()) {
    for (const SwitchEdge& edge : routes.oriented().graph.edges(sw))
      load.push_back((*this)(sw, edge.port));
  }
  return load;
}

ChannelLoads::ChannelLoads(const RouteState& routes, Lid top) {
  list_hops(routes);
  std::vector<Lid> lids;
  for (std::uint32_t begin = 0; begin <= top.value(); begin += kAtOnce) {
    lids.clear();
    for (std::uint32_t value = std::max(begin, 1u); value < begin + kAtOnce && value <= top.value();
         ++value) {
      const Lid lid{static_cast<std::uint16_t>(value)};
      const Destination& wanted = routes.destination(lid);
      if (wanted.weighs && wanted.last != kNone<SwitchIdx>) lids.push_back(lid);
    }
    if (!lids.empty()) count(routes, lids);
  }
}

// First everybody who climbs hands over, from the foot up, then everybody who descends, from the
// top down: when a switch's turn comes, all that passes it has arrived.
void ChannelLoads::count(const RouteState& routes, std::span<const Lid> lids) {
  const UpDownGraph& up_down = routes.oriented().up_down;
  const std::vector<SwitchIdx>& order = up_down.order();
  flow_.resize(order.size() * lids.size());
  for (const SwitchIdx sw : order) {
    const auto own = static_cast<std::uint16_t>(routes.own_paths(sw));
    std::fill_n(
        flow_.begin() + static_cast<std::ptrdiff_t>(sw.value() * lids.size()), lids.size(), own);
  }
  // Every row is in another page, which takes longer to reach than to read.
  constexpr std::size_t kAhead = 12;
  const auto fetch = [&](std::size_t at) {
    if (at >= order.size()) return;
    const PortNum* const row = routes.row(order[at]).data();
    __builtin_prefetch(row + lids.front().value());
    __builtin_prefetch(row + lids.back().value());
  };
  for (std::size_t at = order.size(); at-- > 0;) {
    fetch(at - kAhead);
    if (!up_down.up(order[at]).empty()) hand_over(routes, order[at], lids, kUp);
  }
  for (const SwitchIdx sw : order) {
    if (!up_down.down(sw).empty()) hand_over(routes, sw, lids, 0);
  }
}

void ChannelLoads::hand_over(const RouteState& routes,
                             SwitchIdx sw,
                             std::span<const Lid> lids,
                             std::uint32_t direction) {
  const std::size_t width = lids.size();
  std::uint16_t* const flows = flow_.data();
  std::uint16_t* const flow = flows + sw.value() * width;
  const auto switches = static_cast<std::uint32_t>(routes.oriented().graph.switches());
  const std::size_t ports = first_[sw.value() + 1] - first_[sw.value()];
  const PortNum* const row = routes.row(sw).data();
  const std::uint32_t* const onward = onward_.data() + first_[sw.value()];
  std::uint32_t* const load = load_.data() + first_[sw.value()];
  const auto pass_on = [=](std::size_t j) {
    const std::size_t port = row[lids[j].value()].value();
    if (port >= ports) return;
    const std::uint32_t to = onward[port] ^ direction;
    if (to >= switches) return;  // nowhere, or the other way
    load[port] += flow[j];
    flows[to * width + j] = static_cast<std::uint16_t>(flows[to * width + j] + flow[j]);
    flow[j] = 0;
  };
  // Most switches in the middle carry few of the LIDs.
  constexpr std::size_t kStep = 4;
  std::size_t j = 0;
  for (; j + kStep <= width; j += kStep) {
    if (std::uint64_t any; std::memcpy(&any, flow + j, sizeof any), any == 0) continue;
    for (std::size_t k = j; k < j + kStep; ++k) {
      if (flow[k] != 0) pass_on(k);
    }
  }
  for (; j < width; ++j) pass_on(j);
}

double ChannelLoads::add(
    const RouteState& routes, SwitchIdx sw, Lid lid, PortNum port, std::int64_t paths) {
  double grown = 0;
  const SwitchIdx last = routes.destination(lid).last;
  for (RouteState::Hop hop = routes.hop(sw, port); hop.to != kNone<SwitchIdx>;) {
    std::uint32_t& load = load_[first_[sw.value()] + port.value()];
    const auto before = static_cast<double>(load);
    load += static_cast<std::uint32_t>(paths);
    const auto after = static_cast<double>(load);
    grown += after * after - before * before;
    sw = hop.to;
    if (sw == last) break;
    port = routes.egress(sw, lid);
    hop = routes.hop(sw, port);
  }
  return grown;
}

double ChannelLoads::measure_gain(const RouteState& routes, SwitchIdx sw, Lid lid, PortNum port) {
  const PortNum from = routes.egress(sw, lid);
  const auto paths = static_cast<std::int64_t>(routes.count_paths(sw, lid));
  const double grown = add(routes, sw, lid, from, -paths) + add(routes, sw, lid, port, paths);
  add(routes, sw, lid, port, -paths);
  add(routes, sw, lid, from, paths);
  return -grown;
}

void ChannelLoads::move(RouteState& routes, SwitchIdx sw, Lid lid, PortNum port) {
  if (measure_gain(routes, sw, lid, port) <= 0) return;
  const auto paths = static_cast<std::int64_t>(routes.count_paths(sw, lid));
  add(routes, sw, lid, routes.egress(sw, lid), -paths);
  add(routes, sw, lid, port, paths);
  routes.set(sw, lid, port);
}

std::uint64_t compute_load_basis(const IndexVector<SwitchIdx, Guid>& guids,
                                 const Targets& targets,
                                 const std::vector<Destination>& destinations) {
  std::uint64_t hash = 0xcbf29ce484222325u;
  std::vector<std::pair<Guid, std::uint32_t>> senders;  // a switch without hosts changes nothing
  for (const SwitchIdx sw : guids.indices()) {
    if (targets.hosts[sw] != 0) senders.emplace_back(guids[sw], targets.hosts[sw]);
  }
  std::ranges::sort(senders);
  mix(hash, senders.empty() ? guids.size() : 0);  // then all switches send
  for (const auto& [guid, hosts] : senders) {
    mix(hash, guid.value());
    mix(hash, hosts);
  }
  for (std::size_t lid = 0; lid < destinations.size(); ++lid) {
    if (destinations[lid].demand == 0) continue;
    mix(hash, lid);
    mix(hash, destinations[lid].demand);
    mix(hash, guids[destinations[lid].last].value());
  }
  return hash;
}

LoadChange::LoadChange(const Side& before, const Side& now, const PortChanges& changes)
    : before_(before),
      now_(now),
      changes_(changes),
      common_before_(before.graph.switches(), 0),
      common_(now.graph.switches(), 0),
      demand_(now.destinations.size(), 0),
      by_port_before_(list_by_port(before.graph)),
      by_port_(list_by_port(now.graph)),
      taken_(now.graph.edge_count(), 0),
      differs_(now.graph.switches(), 0) {
  for (const SwitchIdx sw : common_.indices()) {
    const SwitchIdx row = changes.before[sw];
    if (row == kNone<SwitchIdx> || before.sources[row] != now.sources[sw]) continue;
    common_[sw] = common_before_[row] = now.sources[sw];
  }
  for (std::size_t lid = 0; lid < std::min(demand_.size(), before.destinations.size()); ++lid) {
    const Destination& was = before.destinations[lid];
    const Destination& is = now.destinations[lid];
    if (is.demand != 0 && was.demand == is.demand && changes.before[is.last] == was.last)
      demand_[lid] = is.demand;
  }
}

LoadChange::ByPort LoadChange::list_by_port(const SwitchGraph& graph) {
  ByPort by_port(graph.switches() * 256, kNoEdge);
  for (std::uint32_t sw = 0; sw < graph.switches(); ++sw) {
    std::uint32_t position = graph.first_edge(SwitchIdx{sw});
    for (const SwitchEdge& edge : graph.edges(SwitchIdx{sw}))
      by_port[sw * std::size_t{256} + edge.port.value()] = position++;
  }
  return by_port;
}

bool LoadChange::is_known() const {
  return std::ranges::none_of(changes_.gained, [&](const PortChanges::Gained& link) {
    return by_port_before_[changes_.before[link.sw].value() * std::size_t{256} +
                           link.port.value()] != kNoEdge;
  });
}

std::vector<std::uint64_t> LoadChange::apply(std::vector<std::uint64_t> load,
                                             std::span<const Entries::Change> changed) {
  left_ = std::move(load);
  if (!move_other_paths(before_, by_port_before_, common_before_, left_, true)) return {};
  for (std::size_t begin = 0; begin < changed.size();) {
    const Lid lid = changed[begin].lid;
    std::size_t end = begin;
    for (; end < changed.size() && changed[end].lid == lid; ++end) {
      const SwitchIdx sw = changed[end].sw, row = changes_.before[sw];
      differs_[sw] = row == kNone<SwitchIdx> || lid > before_.tables.top() ||
                     before_.tables.route(row, lid) != now_.tables.route(sw, lid);
    }
    for (std::size_t at = begin; at < end && demand_[lid.value()] != 0; ++at) {
      if (differs_[changed[at].sw]) move_paths(lid, changed[at].sw);
    }
    for (; begin < end; ++begin) differs_[changed[begin].sw] = 0;
  }
  for (const SwitchIdx sw : differs_.indices()) {
    const SwitchIdx row = changes_.before[sw];
    if (row == kNone<SwitchIdx>) continue;
    std::uint32_t position = now_.graph.first_edge(sw);
    for (const SwitchEdge& edge : now_.graph.edges(sw)) {
      const std::uint32_t was = by_port_before_[row.value() * std::size_t{256} + edge.port.value()];
      if (was != kNoEdge) taken_[position] += left_[was];
      ++position;
    }
  }
  if (!move_other_paths(now_, by_port_, common_, taken_, false)) return {};
  return std::move(taken_);
}

bool LoadChange::move_other_paths(const Side& side,
                                  const ByPort& by_port,
                                  const IndexVector<SwitchIdx, std::uint32_t>& common,
                                  std::vector<std::uint64_t>& load,
                                  bool take_away) {
  std::vector<SwitchIdx> others, all;
  for (const SwitchIdx sw : common.indices()) {
    if (side.sources[sw] != common[sw]) others.push_back(sw);
    if (side.sources[sw] != 0) all.push_back(sw);
  }
  for (std::size_t value = 1; value < side.destinations.size(); ++value) {
    const Destination& to = side.destinations[value];
    if (to.demand == 0) continue;
    const bool same = value < demand_.size() && demand_[value] != 0;
    for (const SwitchIdx sw : same ? others : all) {
      if (!follow(side, by_port, sw, to.last, Lid{static_cast<std::uint16_t>(value)})) return false;
      const std::uint64_t weight = std::uint64_t{side.sources[sw]} * to.demand;
      for (const std::uint32_t edge : path_) load[edge] += take_away ? -weight : weight;
    }
  }
  return true;
}

// Paths that come to this switch before any other whose entry differs: up to it they are as they
// were.
std::uint64_t LoadChange::count_own(SwitchIdx sw, Lid lid) const {
  std::uint64_t paths = common_[sw];
  for (const SwitchEdge& edge : now_.graph.edges(sw)) {
    if (now_.tables.route(edge.to, lid) == edge.peer_port && !differs_[edge.to])
      paths += count_own(edge.to, lid);
  }
  return paths;
}

void LoadChange::move_paths(Lid lid, SwitchIdx sw) {
  const Destination& wanted = now_.destinations[lid.value()];
  const std::uint64_t weight = count_own(sw, lid) * demand_[lid.value()];
  if (weight == 0) return;
  const SwitchIdx row = changes_.before[sw], last = changes_.before[wanted.last];
  if (row != kNone<SwitchIdx> && last != kNone<SwitchIdx> && lid <= before_.tables.top()) {
    (void)follow(before_, by_port_before_, row, last, lid);
    for (const std::uint32_t edge : path_) left_[edge] -= weight;
  }
  (void)follow(now_, by_port_, sw, wanted.last, lid);
  for (const std::uint32_t edge : path_) taken_[edge] += weight;
}

bool LoadChange::follow(
    const Side& side, const ByPort& by_port, SwitchIdx from, SwitchIdx last, Lid lid) {
  path_.clear();
  for (SwitchIdx sw = from; sw != last; sw = side.graph.edge(path_.back()).to) {
    const std::uint32_t edge =
        by_port[sw.value() * std::size_t{256} + side.tables.route(sw, lid).value()];
    if (edge == kNoEdge || path_.size() > side.graph.switches()) {
      path_.clear();
      return false;
    }
    path_.push_back(edge);
  }
  return true;
}

}  // namespace smd

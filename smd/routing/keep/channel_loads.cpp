#include "smd/routing/keep/channel_loads.h"

#include <algorithm>
#include <cstring>

namespace smd {

namespace {

// Beside the number of the switch that a port leads to.
constexpr std::uint32_t kUp = 1u << 31;
constexpr std::uint32_t kNowhere = ~kUp;

// LIDs counted at once: a cache line of every row.
constexpr std::uint32_t kAtOnce = 64;

}  // namespace

void ChannelLoads::list_hops(const RouteState& routes) {
  for (const SwitchIdx sw : routes.oriented().guids.indices()) {
    first_.push_back(static_cast<std::uint32_t>(onward_.size()));
    for (const RouteState::Hop hop : routes.hops(sw))
      onward_.push_back(hop.to == kNone<SwitchIdx> ? kNowhere
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
    port = routes.exit(sw, lid);
    hop = routes.hop(sw, port);
  }
  return grown;
}

double ChannelLoads::measure_gain(const RouteState& routes, SwitchIdx sw, Lid lid, PortNum port) {
  const PortNum from = routes.exit(sw, lid);
  const auto paths = static_cast<std::int64_t>(routes.count_paths(sw, lid));
  const double grown = add(routes, sw, lid, from, -paths) + add(routes, sw, lid, port, paths);
  add(routes, sw, lid, port, -paths);
  add(routes, sw, lid, from, paths);
  return -grown;
}

void ChannelLoads::move(RouteState& routes, SwitchIdx sw, Lid lid, PortNum port) {
  if (measure_gain(routes, sw, lid, port) <= 0) return;
  const auto paths = static_cast<std::int64_t>(routes.count_paths(sw, lid));
  add(routes, sw, lid, routes.exit(sw, lid), -paths);
  add(routes, sw, lid, port, paths);
  routes.set(sw, lid, port);
}

}  // namespace smd

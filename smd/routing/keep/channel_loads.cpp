#include "smd/routing/keep/channel_loads.h"

#include <algorithm>

namespace smd {

ChannelLoads::ChannelLoads(const RouteState& routes, Lid top) {
  const SwitchGraph& graph = routes.oriented().graph;
  std::uint32_t ports = 0;
  for (const SwitchIdx sw : routes.oriented().guids.indices()) {
    first_.push_back(ports);
    const auto edges = graph.edges(sw);
    if (!edges.empty()) ports += edges.back().port.value() + 1u;
  }
  load_.assign(ports, 0);
  waiting_.resize(graph.switches());

  IndexVector<SwitchIdx, std::vector<Lid>> by_last(graph.switches());
  for (std::uint32_t value = 1; value <= top.value(); ++value) {
    const Lid lid{static_cast<std::uint16_t>(value)};
    const Destination& wanted = routes.destination(lid);
    if (wanted.weighs && wanted.last != kNone<SwitchIdx>) by_last[wanted.last].push_back(lid);
  }
  for (const SwitchIdx last : by_last.indices()) {
    if (!by_last[last].empty()) count(routes, last, by_last[last]);
  }
}

// First everybody who climbs hands over, from the foot up, then everybody who descends, from the
// top down: when a switch's turn comes, all that passes it has arrived.
void ChannelLoads::count(const RouteState& routes, SwitchIdx last, std::span<const Lid> lids) {
  const std::vector<SwitchIdx>& order = routes.oriented().up_down.order();
  const std::size_t width = lids.size();
  flow_.resize(order.size() * width);
  for (const SwitchIdx sw : order) {
    const auto own = static_cast<std::uint32_t>(routes.own_paths(sw));
    std::fill_n(flow_.begin() + static_cast<std::ptrdiff_t>(sw.value() * width), width, own);
    waiting_[sw.value()] = own != 0;
  }
  waiting_[last.value()] = 0;
  const auto hand_over = [&](SwitchIdx sw, bool up) {
    if (!waiting_[sw.value()] || sw == last) return;
    const std::uint32_t* const flow = flow_.data() + sw.value() * width;
    const std::span<const RouteState::Hop> hops = routes.hops(sw);
    const PortNum* const row = routes.row(sw).data();
    std::uint64_t* const load = load_.data() + first_[sw.value()];
    bool left = false;
    for (std::size_t j = 0; j < width; ++j) {
      if (flow[j] == 0) continue;
      const std::size_t port = row[lids[j].value()].value();
      if (port >= hops.size() || hops[port].to == kNone<SwitchIdx>) continue;
      if (hops[port].up != up) {
        left = true;
        continue;
      }
      load[port] += flow[j];
      flow_[hops[port].to.value() * width + j] += flow[j];
      waiting_[hops[port].to.value()] = 1;
    }
    waiting_[sw.value()] = left;
  };
  for (std::size_t at = order.size(); at-- > 0;) hand_over(order[at], true);
  for (const SwitchIdx sw : order) hand_over(sw, false);
}

double ChannelLoads::add(
    const RouteState& routes, SwitchIdx sw, Lid lid, PortNum port, std::int64_t paths) {
  double grown = 0;
  const SwitchIdx last = routes.destination(lid).last;
  for (RouteState::Hop hop = routes.hop(sw, port); hop.to != kNone<SwitchIdx>;) {
    std::uint64_t& load = load_[first_[sw.value()] + port.value()];
    const auto before = static_cast<double>(load);
    load += static_cast<std::uint64_t>(paths);
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

#include "smd/routing/keep/route_state.h"

#include <algorithm>
#include <array>
#include <tuple>

namespace smd {

std::vector<Destination> list_destinations(const Targets& targets, Lid top) {
  bool hosts = false;
  for (const std::uint32_t count : targets.hosts) hosts = hosts || count != 0;
  std::vector<Destination> by_lid(std::size_t{top.value()} + 1);
  for (const SwitchIdx sw : targets.of.indices()) {
    for (const Target& target : targets.of[sw]) {
      for (unsigned offset = 0; offset < 1u << target.lmc; ++offset)
        // Without hosts the switches themselves are all the traffic there is.
        by_lid[target.base.value() + offset] = {
            .last = sw, .exit = target.exit, .base = target.base, .weighs = target.host || !hosts};
    }
  }
  return by_lid;
}

RouteState::RouteState(const OrientedFabric& oriented,
                       const std::vector<Destination>& destinations,
                       ForwardingTables& tables)
    : oriented_(oriented),
      destinations_(destinations),
      tables_(tables),
      carried_(oriented.graph.switches()),
      touched_(destinations.size(), 0) {
  for (const SwitchIdx sw : oriented.guids.indices()) {
    const auto first = static_cast<std::uint32_t>(hops_.size());
    first_hop_.push_back(first);
    const auto edges = oriented.graph.edges(sw);
    if (!edges.empty()) hops_.resize(first + edges.back().port.value() + 1u);
    for (const SwitchEdge& edge : edges) hops_[first + edge.port.value()].to = edge.to;
    for (const UpDownGraph::Way& way : oriented.up_down.up(sw))
      hops_[first + oriented.graph.edge(way.edge).port.value()].up = true;
  }
  first_hop_.push_back(static_cast<std::uint32_t>(hops_.size()));
  for (const std::uint32_t count : oriented.targets.hosts)
    hosts_exist_ = hosts_exist_ || count != 0;
}

std::uint32_t RouteState::follow(SwitchIdx sw, Lid lid, bool down_only) const {
  const SwitchIdx last = destinations_[lid.value()].last;
  const std::size_t most = tables_.switches();
  for (std::uint32_t links = 0; links < most; ++links) {
    if (sw == last) return links;
    const Hop onward = next(sw, lid);
    if (onward.to == kNone<SwitchIdx> || (down_only && onward.up)) return kUnreached;
    sw = onward.to;
  }
  return kUnreached;
}

std::uint64_t RouteState::count_paths(SwitchIdx sw, Lid lid) const {
  std::uint64_t paths = own_paths(sw);
  for (const SwitchEdge& edge : oriented_.graph.edges(sw)) {
    if (tables_.route(edge.to, lid) == edge.far) paths += count_paths(edge.to, lid);
  }
  return paths;
}

std::span<const std::uint32_t> RouteState::carried(SwitchIdx sw) {
  std::vector<std::uint32_t>& counts = carried_[sw];
  if (counts.empty()) {
    counts.assign(256, 0);
    const std::span<const PortNum> row = std::as_const(tables_).row(sw);
    for (std::size_t lid = 0; lid < destinations_.size(); ++lid) {
      if (destinations_[lid].weighs) ++counts[row[lid].value()];
    }
  }
  return counts;
}

bool RouteState::is_entered_from_above(SwitchIdx sw, Lid lid) const {
  const auto ways = oriented_.up_down.up(sw);
  return std::any_of(ways.begin(), ways.end(), [&](const UpDownGraph::Way& way) {
    return next(way.to, lid).to == sw;
  });
}

void RouteState::set(SwitchIdx sw, Lid lid, PortNum port) {
  if (tables_.route(sw, lid) == port) return;
  changes_.push_back({sw, tables_.route(sw, lid)});
  touched_[lid.value()] = 1;
  std::vector<std::uint32_t>& counts = carried_[sw];
  if (!counts.empty() && destinations_[lid.value()].weighs) {
    --counts[tables_.route(sw, lid).value()];
    ++counts[port.value()];
  }
  tables_.set_route(sw, lid, port);
}

std::vector<Lid> RouteState::list_touched() const {
  std::vector<Lid> lids;
  for (std::size_t lid = 0; lid < touched_.size(); ++lid) {
    if (touched_[lid]) lids.push_back(Lid{static_cast<std::uint16_t>(lid)});
  }
  return lids;
}

PortNum RouteState::choose(SwitchIdx sw, Lid lid, std::span<const std::uint32_t> ways) {
  const SwitchGraph& graph = oriented_.graph;
  if (ways.size() == 1) return graph.edge(ways[0]).port;
  const Destination& wanted = destinations_[lid.value()];
  std::array<std::uint16_t, 256> by_owner{}, by_neighbours{};
  for (const Target& target : oriented_.targets.of[wanted.last]) {
    for (unsigned offset = 0; offset < 1u << target.lmc; ++offset) {
      const Lid other{static_cast<std::uint16_t>(target.base.value() + offset)};
      if (other == lid || !destinations_[other.value()].weighs) continue;
      ++by_neighbours[tables_.route(sw, other).value()];
      if (target.base == wanted.base) ++by_owner[tables_.route(sw, other).value()];
    }
  }
  const std::span<const std::uint32_t> by_all = carried(sw);
  PortNum best = kNoRoute;
  for (const std::uint32_t way : ways) {
    const PortNum port = graph.edge(way).port;
    const auto uses = [&](PortNum p) {
      return std::tuple{by_owner[p.value()], by_neighbours[p.value()], by_all[p.value()], p};
    };
    if (best == kNoRoute || uses(port) < uses(best)) best = port;
  }
  return best;
}

}  // namespace smd

#include "smd/routing/keep/route_state.h"

#include <algorithm>

namespace smd {

RouteState::RouteState(const OrientedFabric& oriented,
                       const std::vector<Destination>& destinations,
                       ForwardingTables& tables)
    : oriented_(oriented),
      destinations_(destinations),
      tables_(tables),
      entries_(oriented.graph, oriented.targets, oriented.costs, destinations, tables) {
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

bool RouteState::is_entered_from_above(SwitchIdx sw, Lid lid) const {
  const auto ways = oriented_.up_down.up(sw);
  return std::any_of(ways.begin(), ways.end(), [&](const UpDownGraph::Way& way) {
    return next(way.to, lid).to == sw;
  });
}

void RouteState::set(SwitchIdx sw, Lid lid, PortNum port) {
  if (tables_.route(sw, lid) == port) return;
  changes_.push_back({sw, tables_.route(sw, lid)});
  entries_.set(sw, lid, port);
}

}  // namespace smd

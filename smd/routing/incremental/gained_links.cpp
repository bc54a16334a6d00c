#include "smd/routing/incremental/update_up_down.h"

#include <algorithm>
#include <set>

namespace smd {

GainedLinks::GainedLinks(RouteState& routes)
    : routes_(routes),
      queued_(routes.oriented().graph.switches(), 0),
      place_(routes.oriented().graph.switches()) {
  std::uint32_t place = 0;
  for (const SwitchIdx sw : routes.oriented().up_down.order()) place_[sw] = place++;
}

bool GainedLinks::may_hand_over(SwitchIdx from, RouteState::Hop hop, Lid lid) const {
  if (!hop.up) return routes_.descent(hop.to, lid) != kUnreached;
  // Somebody above may count on those who descend.
  const RouteState::Hop now = routes_.next(from, lid);
  return now.to != kNone<SwitchIdx> && now.up && routes_.length(hop.to, lid) != kUnreached;
}

bool GainedLinks::improves(SwitchIdx from, PortNum port, Lid lid) const {
  if (from == routes_.destination(lid).last) return false;
  const RouteState::Hop hop = routes_.hop(from, port);
  const std::uint32_t onward = routes_.length(hop.to, lid);
  return onward != kUnreached && onward + 1 < routes_.length(from, lid) &&
         may_hand_over(from, hop, lid);
}

void GainedLinks::rebalance(Lid lid, std::span<const SwitchIdx> detours) {
  queue_.assign(detours.begin(), detours.end());
  for (const SwitchIdx sw : queue_) queued_[sw] = 1;
  for (std::size_t at = 0; at < queue_.size(); ++at) {
    for (const SwitchEdge& edge : routes_.oriented().graph.edges(queue_[at])) {
      if (queued_[edge.to] || routes_.next(edge.to, lid).to != queue_[at]) continue;
      queued_[edge.to] = 1;
      queue_.push_back(edge.to);
    }
  }
  for (const SwitchIdx sw : queue_) queued_[sw] = 0;
  // In the order of a route turned round: who descends from the foot up, who climbs from the top
  // down.
  const auto turn = [&](SwitchIdx sw) {
    const bool climbs = routes_.next(sw, lid).up;
    return std::pair{climbs, climbs ? place_[sw] : ~place_[sw]};
  };
  std::sort(
      queue_.begin(), queue_.end(), [&](SwitchIdx a, SwitchIdx b) { return turn(a) < turn(b); });
  for (const SwitchIdx sw : queue_) take_shortest(sw, lid);
}

void GainedLinks::take_shortest(SwitchIdx sw, Lid lid) {
  const RouteState::Hop now = routes_.next(sw, lid);
  if (sw == routes_.destination(lid).last || now.to == kNone<SwitchIdx>) return;
  const SwitchGraph& graph = routes_.oriented().graph;
  std::uint32_t best = routes_.length(sw, lid);
  candidates_.clear();
  std::uint32_t position = graph.first_edge(sw);
  for (const SwitchEdge& edge : graph.edges(sw)) {
    const std::uint32_t link = position++;
    const RouteState::Hop hop = routes_.hop(sw, edge.port);
    // Somebody above may count on those who descend.
    if (hop.up && !now.up) continue;
    const std::uint32_t onward =
        hop.up ? routes_.length(hop.to, lid) : routes_.descent(hop.to, lid);
    if (onward == kUnreached || onward + 1 > best) continue;
    if (onward + 1 < best) candidates_.clear();
    best = onward + 1;
    candidates_.push_back(link);
  }
  if (best < routes_.length(sw, lid)) routes_.set(sw, lid, routes_.choose(sw, lid, candidates_));
}

void GainedLinks::shorten(Lid lid, std::span<const PortChanges::Gained> links) {
  queue_.clear();
  const auto queue = [&](SwitchIdx sw) {
    if (!queued_[sw]) queue_.push_back(sw);
    queued_[sw] = 1;
  };
  // Many links lead to one switch when that has come up.
  SwitchIdx to = kNone<SwitchIdx>;
  std::uint32_t onward = kUnreached;
  for (const PortChanges::Gained& link : links) {
    if (link.to != to) onward = routes_.length(link.to, lid);
    to = link.to;
    if (onward == kUnreached || onward + 1 >= routes_.length(link.sw, lid) ||
        !improves(link.sw, link.port, lid))
      continue;
    routes_.set(link.sw, lid, link.port);
    queue(link.sw);
    to = kNone<SwitchIdx>;
  }
  for (std::size_t at = 0; at < queue_.size(); ++at) {
    const SwitchIdx sw = queue_[at];
    queued_[sw] = 0;
    for (const SwitchEdge& edge : routes_.oriented().graph.edges(sw)) {
      // Edges are seen from here: the neighbour comes over its own end of the link.
      if (routes_.next(edge.to, lid).to != sw) {
        if (!improves(edge.to, edge.peer_port, lid)) continue;
        routes_.set(edge.to, lid, edge.peer_port);
      }
      queue(edge.to);
    }
  }
}

void GainedLinks::fill(const PortChanges::Gained& link, Lid top, ChannelLoads& loads) {
  const RouteState::Hop hop = routes_.hop(link.sw, link.port);
  if (measured_ != hop.to) {
    measured_ = hop.to;
    onward_.assign(std::size_t{top.value()} + 1, kUnreached);
    for (std::size_t lid = 1; lid < onward_.size(); ++lid)
      onward_[lid] = routes_.length(hop.to, Lid{static_cast<std::uint16_t>(lid)});
  }
  std::vector<std::pair<double, Lid>> movable;  // greatest gain first
  std::set<PortNum> ports{link.port};
  for (std::uint32_t value = 1; value <= top.value(); ++value) {
    const Lid lid{static_cast<std::uint16_t>(value)};
    if (!may_move(link, hop, lid)) continue;
    ports.insert(routes_.egress(link.sw, lid));
    const double gain = loads.measure_gain(routes_, link.sw, lid, link.port);
    if (gain > 0) movable.emplace_back(-gain, lid);
  }
  std::uint64_t sum = 0;
  for (const PortNum port : ports) sum += loads(link.sw, port);
  const std::uint64_t share = sum / ports.size();
  std::sort(movable.begin(), movable.end());
  for (const auto& [gain, lid] : movable) {
    if (loads(link.sw, link.port) >= share) return;
    loads.move(routes_, link.sw, lid, link.port);
  }
}

void GainedLinks::attract(const PortChanges::Gained& link, Lid top, ChannelLoads& loads) {
  if (routes_.hop(link.sw, link.port).up) return;
  const OrientedFabric& oriented = routes_.oriented();
  for (std::uint32_t value = 1; value <= top.value(); ++value) {
    const Lid lid{static_cast<std::uint16_t>(value)};
    const Destination& wanted = routes_.destination(lid);
    if (!wanted.weighs || wanted.last == kNone<SwitchIdx> || wanted.last == link.sw ||
        routes_.egress(link.sw, lid) != link.port)
      continue;
    queue_.assign(1, link.sw);
    for (std::size_t at = 0; at < queue_.size(); ++at) {
      const SwitchIdx sw = queue_[at];
      for (const UpDownGraph::Link& up : oriented.up_down.up(sw)) {
        const PortNum port = oriented.graph.edge(up.edge).peer_port;
        if (queued_[up.to]) continue;
        if (routes_.next(up.to, lid).to != sw &&
            routes_.length(up.to, lid) == routes_.length(sw, lid) + 1)
          loads.move(routes_, up.to, lid, port);
        if (routes_.next(up.to, lid).to != sw) continue;
        queued_[up.to] = 1;
        queue_.push_back(up.to);
      }
    }
    for (const SwitchIdx sw : queue_) queued_[sw] = 0;
  }
}

bool GainedLinks::may_move(const PortChanges::Gained& link, RouteState::Hop hop, Lid lid) const {
  const Destination& wanted = routes_.destination(lid);
  if (!wanted.weighs || wanted.last == kNone<SwitchIdx> || wanted.last == link.sw) return false;
  if (routes_.egress(link.sw, lid) == link.port) return false;
  const std::uint32_t onward = onward_[lid.value()];
  return onward != kUnreached && onward + 1 == routes_.length(link.sw, lid) &&
         may_hand_over(link.sw, hop, lid);
}

}  // namespace smd

#include "smd/routing/incremental/repair.h"

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
    for (const UpDownGraph::Link& link : oriented.up_down.up(sw))
      hops_[first + oriented.graph.edge(link.edge).port.value()].up = true;
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
  const auto up_links = oriented_.up_down.up(sw);
  return std::any_of(up_links.begin(), up_links.end(), [&](const UpDownGraph::Link& link) {
    return next(link.to, lid).to == sw;
  });
}

void RouteState::set(SwitchIdx sw, Lid lid, PortNum port) {
  if (tables_.route(sw, lid) == port) return;
  changes_.push_back({sw, tables_.route(sw, lid)});
  entries_.set(sw, lid, port);
}

RouteRepair::RouteRepair(RouteState& routes)
    : routes_(routes),
      up_down_(routes.oriented().up_down),
      place_(routes.oriented().graph.switches()),
      queued_(routes.oriented().graph.switches(), 0) {
  std::uint32_t place = 0;
  for (const SwitchIdx sw : up_down_.order()) place_[sw] = place++;
}

void RouteRepair::repair(Lid lid, std::span<const SwitchIdx> suspects) {
  lid_ = lid;
  climbers_.clear();
  for (const SwitchIdx sw : suspects) queue(sw);
  while (!queue_.empty()) {
    const SwitchIdx sw = up_down_.order()[queue_.top()];
    queue_.pop();
    queued_[sw] = 0;
    look_at(sw);
  }
  for (std::size_t i = climbers_.size(); i-- > 0;) send_up(climbers_[i]);
}

void RouteRepair::restore(Lid lid, bool even_if_longer) {
  lid_ = lid;
  // The first change of a switch says what it had.
  std::vector<RouteState::Change> first;
  for (const RouteState::Change& change : routes_.changes()) {
    const bool known = std::any_of(
        first.begin(), first.end(), [&](const auto& other) { return other.sw == change.sw; });
    if (!known) first.push_back(change);
  }
  for (bool again = true; again;) {
    again = false;
    for (const RouteState::Change& change : first) {
      if (!may_go_back(change, even_if_longer)) continue;
      routes_.set(change.sw, lid, change.from);
      again = true;
    }
  }
}

bool RouteRepair::may_go_back(const RouteState::Change& change, bool even_if_longer) const {
  const RouteState::Hop back = routes_.hop(change.sw, change.from);
  if (back.to == kNone<SwitchIdx> || routes_.egress(change.sw, lid_) == change.from ||
      change.sw == routes_.destination(lid_).last)
    return false;
  if (back.up && routes_.is_entered_from_above(change.sw, lid_)) return false;
  const std::uint32_t onward =
      back.up ? routes_.length(back.to, lid_) : routes_.descent(back.to, lid_);
  return onward != kUnreached && (even_if_longer || onward + 1 <= routes_.length(change.sw, lid_));
}

void RouteRepair::queue(SwitchIdx sw) {
  if (queued_[sw]) return;
  queued_[sw] = 1;
  queue_.push(place_[sw]);
}

// When its turn comes, every switch further down is as it will stay.
void RouteRepair::look_at(SwitchIdx sw) {
  const Destination& wanted = routes_.destination(lid_);
  if (sw == wanted.last) {
    routes_.set(sw, lid_, wanted.egress);
    return;
  }
  const RouteState::Hop next = routes_.next(sw, lid_);
  const bool climbs = next.to != kNone<SwitchIdx> && next.up;
  if (climbs && !routes_.is_entered_from_above(sw, lid_)) return;
  const bool descends = next.to != kNone<SwitchIdx> && !next.up;
  if (descends && routes_.descent(next.to, lid_) != kUnreached) return;
  if (send_down(sw)) return;
  if (up_down_.up(sw).empty()) return force_down(sw);
  if (!climbs) {
    routes_.set(sw, lid_, kNoRoute);
    climbers_.push_back(sw);
  }
  for (const UpDownGraph::Link& link : up_down_.up(sw)) {
    if (routes_.next(link.to, lid_).to == sw) queue(link.to);
  }
}

bool RouteRepair::send_down(SwitchIdx sw) {
  candidates_.clear();
  std::uint32_t best = kUnreached;
  for (const UpDownGraph::Link& link : up_down_.down(sw)) {
    const std::uint32_t links = routes_.descent(link.to, lid_);
    if (links > best || links == kUnreached) continue;
    if (links < best) candidates_.clear();
    best = links;
    candidates_.push_back(link.edge);
  }
  if (candidates_.empty()) return false;
  routes_.set(sw, lid_, routes_.choose(sw, lid_, candidates_));
  return true;
}

void RouteRepair::send_up(SwitchIdx sw) {
  candidates_.clear();
  std::uint32_t best = kUnreached;
  for (const UpDownGraph::Link& link : up_down_.up(sw)) {
    const std::uint32_t links = routes_.length(link.to, lid_);
    if (links > best || links == kUnreached) continue;
    if (links < best) candidates_.clear();
    best = links;
    candidates_.push_back(link.edge);
  }
  // None where the island does not have the LID.
  if (!candidates_.empty()) routes_.set(sw, lid_, routes_.choose(sw, lid_, candidates_));
}

// The top of an island reaches everybody downwards, if need be over switches that climb now: those
// between it and the first one that descends are turned.
void RouteRepair::force_down(SwitchIdx top) {
  struct Reached {
    SwitchIdx sw;
    std::size_t from;
    PortNum port;  // of the one it was reached from
  };

  std::vector<Reached> reached{{top, 0, kNoRoute}};
  std::vector<char> seen(place_.size(), 0);
  seen[top.value()] = 1;
  for (std::size_t at = 0; at < reached.size(); ++at) {
    if (at != 0 && routes_.descent(reached[at].sw, lid_) != kUnreached) {
      for (std::size_t back = at; back != 0; back = reached[back].from)
        routes_.set(reached[reached[back].from].sw, lid_, reached[back].port);
      // A climber that was waiting for its path up has one down now.
      std::erase_if(climbers_, [&](SwitchIdx sw) { return routes_.egress(sw, lid_) != kNoRoute; });
      return;
    }
    for (const UpDownGraph::Link& link : up_down_.down(reached[at].sw)) {
      if (seen[link.to.value()]) continue;
      seen[link.to.value()] = 1;
      reached.push_back({link.to, at, routes_.oriented().graph.edge(link.edge).port});
    }
  }
  routes_.set(top, lid_, kNoRoute);
}

}  // namespace smd

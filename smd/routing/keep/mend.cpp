#include "smd/routing/keep/mend.h"

#include <algorithm>

namespace smd {

Mender::Mender(RouteState& routes)
    : routes_(routes),
      up_down_(routes.oriented().up_down),
      place_(routes.oriented().graph.switches()),
      queued_(routes.oriented().graph.switches(), 0) {
  std::uint32_t place = 0;
  for (const SwitchIdx sw : up_down_.order()) place_[sw] = place++;
}

void Mender::mend(Lid lid, std::span<const SwitchIdx> suspects) {
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

void Mender::restore(Lid lid, bool even_if_longer) {
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

bool Mender::may_go_back(const RouteState::Change& change, bool even_if_longer) const {
  const RouteState::Hop back = routes_.hop(change.sw, change.from);
  if (back.to == kNone<SwitchIdx> || routes_.exit(change.sw, lid_) == change.from ||
      change.sw == routes_.destination(lid_).last)
    return false;
  if (back.up && routes_.is_entered_from_above(change.sw, lid_)) return false;
  const std::uint32_t onward =
      back.up ? routes_.length(back.to, lid_) : routes_.descent(back.to, lid_);
  return onward != kUnreached && (even_if_longer || onward + 1 <= routes_.length(change.sw, lid_));
}

void Mender::queue(SwitchIdx sw) {
  if (queued_[sw]) return;
  queued_[sw] = 1;
  queue_.push(place_[sw]);
}

// When its turn comes, every switch further down is as it will stay.
void Mender::look_at(SwitchIdx sw) {
  const Destination& wanted = routes_.destination(lid_);
  if (sw == wanted.last) {
    routes_.set(sw, lid_, wanted.exit);
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
  for (const UpDownGraph::Way& way : up_down_.up(sw)) {
    if (routes_.next(way.to, lid_).to == sw) queue(way.to);
  }
}

bool Mender::send_down(SwitchIdx sw) {
  ways_.clear();
  std::uint32_t best = kUnreached;
  for (const UpDownGraph::Way& way : up_down_.down(sw)) {
    const std::uint32_t links = routes_.descent(way.to, lid_);
    if (links > best || links == kUnreached) continue;
    if (links < best) ways_.clear();
    best = links;
    ways_.push_back(way.edge);
  }
  if (ways_.empty()) return false;
  routes_.set(sw, lid_, routes_.choose(sw, lid_, ways_));
  return true;
}

void Mender::send_up(SwitchIdx sw) {
  ways_.clear();
  std::uint32_t best = kUnreached;
  for (const UpDownGraph::Way& way : up_down_.up(sw)) {
    const std::uint32_t links = routes_.length(way.to, lid_);
    if (links > best || links == kUnreached) continue;
    if (links < best) ways_.clear();
    best = links;
    ways_.push_back(way.edge);
  }
  // None where the island does not have the LID.
  if (!ways_.empty()) routes_.set(sw, lid_, routes_.choose(sw, lid_, ways_));
}

// The top of an island reaches everybody downwards, if need be over switches that climb now: those
// between it and the first one that descends are turned.
void Mender::force_down(SwitchIdx top) {
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
      // A climber that was waiting for its way up has one down now.
      std::erase_if(climbers_, [&](SwitchIdx sw) { return routes_.exit(sw, lid_) != kNoRoute; });
      return;
    }
    for (const UpDownGraph::Way& way : up_down_.down(reached[at].sw)) {
      if (seen[way.to.value()]) continue;
      seen[way.to.value()] = 1;
      reached.push_back({way.to, at, routes_.oriented().graph.edge(way.edge).port});
    }
  }
  routes_.set(top, lid_, kNoRoute);
}

}  // namespace smd

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
  changes_.clear();
  forced_ = false;
  for (const SwitchIdx sw : suspects) queue(sw);
  while (!queue_.empty()) {
    const SwitchIdx sw = up_down_.order()[queue_.top()];
    queue_.pop();
    queued_[sw] = 0;
    look_at(sw);
  }
  for (std::size_t i = climbers_.size(); i-- > 0;) send_up(climbers_[i]);
  if (forced_) restore();
}

void Mender::change(SwitchIdx sw, PortNum port) {
  const PortNum from = routes_.exit(sw, lid_);
  if (from == port) return;
  changes_.push_back({sw, from});
  routes_.set(sw, lid_, port);
}

// Switches above a forced way may have been led elsewhere before it was found; what they had is as
// good as ever. Handing over to somebody who descends is legal for everybody.
void Mender::restore() {
  for (const Change& past : changes_) {
    const RouteState::Hop back = routes_.hop(past.sw, past.from);
    if (back.to == kNone<SwitchIdx> || back.up || past.sw == routes_.destination(lid_).last)
      continue;
    if (routes_.descent(back.to, lid_) != kUnreached) routes_.set(past.sw, lid_, past.from);
  }
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
    change(sw, wanted.exit);
    return;
  }
  const RouteState::Hop next = routes_.next(sw, lid_);
  const bool climbs = next.to != kNone<SwitchIdx> && next.up;
  if (climbs && !is_entered_from_above(sw)) return;
  const bool descends = next.to != kNone<SwitchIdx> && !next.up;
  if (descends && routes_.descent(next.to, lid_) != kUnreached) return;
  if (send_down(sw)) return;
  if (up_down_.up(sw).empty()) return force_down(sw);
  if (!climbs) {
    change(sw, kNoRoute);
    climbers_.push_back(sw);
  }
  for (const UpDownGraph::Way& way : up_down_.up(sw)) {
    if (routes_.next(way.to, lid_).to == sw) queue(way.to);
  }
}

bool Mender::is_entered_from_above(SwitchIdx sw) const {
  const auto ways = up_down_.up(sw);
  return std::any_of(ways.begin(), ways.end(), [&](const UpDownGraph::Way& way) {
    return routes_.next(way.to, lid_).to == sw;
  });
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
  change(sw, routes_.choose(sw, lid_, ways_));
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
  if (!ways_.empty()) change(sw, routes_.choose(sw, lid_, ways_));
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
        change(reached[reached[back].from].sw, reached[back].port);
      forced_ = true;
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
  change(top, kNoRoute);
}

}  // namespace smd

#include "sim-backend/worm/worm_model.h"

#include <algorithm>

#include "smd/base/check.h"

namespace smd::sim {

WormModel::WormModel(const WormGraph& graph, const WormOptions& options, WormWatcher& watcher)
    : graph_(graph), options_(options), watcher_(watcher), channels_(graph.channels.size()) {
  forks_.resize(graph.is_host.size());
  hosts_.resize(graph.host_node.size());
  cables_of_.resize(graph.is_host.size());
  for (ChannelAt c = 0; c < channels_.size(); ++c) {
    const WormChannel& place = graph.channels[c];
    Channel& channel = channels_[c];
    channel.from_host = graph.is_host[place.from] != 0;
    channel.to_host = graph.is_host[place.to] != 0;
    channel.forth = options.cable + (channel.from_host ? 0 : options.transfer);
    // A symbol is obeyed in the cycle after it came in, on the cable; what leaves a switch's buffer
    // then is on the cable a transfer later.
    channel.back_delay = options.cable + 1 - (channel.from_host ? 0 : options.transfer);
    if (place.cable == cables_.size()) {
      cables_.push_back({.first = c, .node = place.from});
      cables_of_[place.from].push_back(place.cable);
    }
    SMD_CHECK(place.cable + 1 == cables_.size(), "lanes of a cable are beside each other");
    cables_.back().last_lane = cables_.back().lanes++;
  }
}

WormAt WormModel::send(const WormRoute& route,
                       std::uint32_t host,
                       std::uint32_t flits,
                       ChannelAt last,
                       std::uint64_t cookie) {
  if (free_worms_.empty()) {
    free_worms_.push_back(static_cast<WormAt>(worms_.size()));
    worms_.emplace_back();
  }
  const WormAt at = free_worms_.back();
  free_worms_.pop_back();
  worms_[at] = {.route = &route,
                .cookie = cookie,
                .made = now_,
                .source = graph_.host_node[host],
                .last = last,
                .flits = flits};
  hosts_[host].local.push_back(at);
  ++waiting_;
  offer(graph_.host_node[host]);
  return at;
}

WormAt WormModel::send(std::uint32_t host, ChannelAt last, std::uint64_t cookie) {
  static const WormRoute none;
  const WormAt at = send(none, host, 0, last, cookie);
  worms_[at].route = nullptr;
  return at;
}

void WormModel::run_until(Cycle last) {
  while (!wheel_.empty() && wheel_.top().at <= last) {
    const Event event = wheel_.top();
    wheel_.pop();
    now_ = event.at;
    ++events_;
    handle(static_cast<Kind>(event.what >> 59),
           static_cast<std::uint32_t>(event.what >> 32) & ((1u << 27) - 1),
           static_cast<HopAt>(event.what));
  }
  now_ = std::max(now_, last);
}

Cycle WormModel::next_event() { return wheel_.empty() ? kNoCycle : wheel_.top().at; }

void WormModel::handle(Kind kind, std::uint32_t key, HopAt hop) {
  switch (kind) {
    case Kind::TailLeft:
      return on_tail_left(key);
    case Kind::CableDown:
    case Kind::CableUp:
      return on_cable(key, kind == Kind::CableUp);
    case Kind::Stop:
    case Kind::Go:
      if (!is_lost_symbol(key)) on_stop(key, kind == Kind::Stop);
      return;
    case Kind::CreditsOn:
    case Kind::CreditsOff:
    case Kind::Credit:
      if (!is_lost_symbol(key)) on_credits(key, kind);
      return;
    case Kind::ComesOn:
    case Kind::ComesOff:
      if (!is_lost_on_wire(key)) on_comes(key, kind == Kind::ComesOn);
      return;
    case Kind::HeadIn:
      if (!is_lost_on_wire(key)) on_head_in(hop);
      return;
    case Kind::NextIn:
      if (hops_[hop].waits) begin(hop);
      return;
    case Kind::TailIn:
      if (!is_lost_on_wire(key)) on_tail_in(hop);
      return;
    case Kind::Ask:
      return on_ask(hop);
    case Kind::Detected:
      hosts_[graph_.host_of[graph_.channels[key].to]].transit.push_back(hop);
      return offer(graph_.channels[key].to);
    case Kind::Programmed:
      channels_[key].reserved = false;
      return connect(key, hop, 0);
    case Kind::Call:
      return watcher_.on_call(key);
    case Kind::Choose:
      return on_choose(hop);
    case Kind::Grant:
      return channels_[key].from_host ? on_engine(key) : on_grant(key);
    case Kind::Move:
      return on_move(key);
    case Kind::Mark:
      return on_mark(key);
  }
}

HopAt WormModel::add_hop(const WormHop& hop) {
  if (free_hops_.empty()) {
    free_hops_.push_back(static_cast<HopAt>(hops_.size()));
    hops_.emplace_back();
  }
  const HopAt at = free_hops_.back();
  free_hops_.pop_back();
  hops_[at] = hop;
  Worm& worm = worms_[hop.worm];
  ++worm.hops;
  const WormStep& step = worm.route->steps[hop.step];
  SMD_CHECK(step.count <= kMostForks, "a worm has at most six branches at a node");
  WormHop& here = hops_[at];
  here.forks = step.count;
  here.strip = step.strip;
  for (std::size_t b = 0; b < step.count; ++b) {
    const WormBranch& branch = worm.route->branches[step.first + b];
    here.branches[b] = {.out = branch.out == kToDestination ? worm.last : branch.out,
                        .next = branch.next};
  }
  return at;
}

void WormModel::free_hop(HopAt at) {
  const WormAt worm = hops_[at].worm;
  free_hops_.push_back(at);
  if (--worms_[worm].hops > 0) return;
  if (worms_[worm].cut) watcher_.on_lost(worm);
  free_worms_.push_back(worm);
}

/// Takes a hop out of the row of those that came in by a channel.
void WormModel::remove(ChannelAt channel, HopAt hop) {
  Channel& in = channels_[channel];
  HopAt before = kNowhere;
  for (HopAt at = in.front; at != hop; at = hops_[at].after) before = at;
  const HopAt after = hops_[hop].after;
  (before == kNowhere ? in.front : hops_[before].after) = after;
  if (in.back == hop) in.back = before;
}

void WormModel::end_blocked(Channel& channel) {
  if (channel.blocked_since < 0) return;
  channel.blocked += now_ - channel.blocked_since;
  channel.blocked_since = -1;
}

void WormModel::on_stop(ChannelAt at, bool stop) {
  Channel& channel = channels_[at];
  channel.stopped = stop;
  if (stop) {
    channel.blocked_since = now_;
  } else {
    end_blocked(channel);
  }
  if (channel.owner != kNowhere) look(graph_.channels[at].cable, now_);
}

void WormModel::on_credits(ChannelAt at, Kind kind) {
  Channel& channel = channels_[at];
  if (kind == Kind::Credit) {
    channel.returned.set(now_, channel.returned.runs, 1);
  } else {
    channel.returned.set(now_, kind == Kind::CreditsOn);
    if (options_.allocation == WormAllocation::Atomic && is_free(channel)) offer_lane(at);
  }
  look(graph_.channels[at].cable, now_);
}

void WormModel::on_comes(ChannelAt at, bool on) {
  Channel& channel = channels_[at];
  channel.came.set(now_, on);
  if (!channel.to_host) {
    if (channel.front != kNowhere && hops_[channel.front].waits) {
      begin(channel.front);
    } else if (channel.front != kNowhere) {
      look_at_outputs(hops_[channel.front]);
    }
    return mark(at, now_);
  }
  for (HopAt hop = channel.front; hop != kNowhere; hop = hops_[hop].after) {
    look_at_outputs(hops_[hop]);
  }
}

void WormModel::look_at_outputs(const WormHop& hop) {
  for (std::size_t b = 0; b < hop.forks; ++b) {
    const WormHop::Branch& branch = hop.branches[b];
    if (branch.granted && !branch.done) look(graph_.channels[branch.out].cable, now_);
  }
}

void WormModel::on_head_in(HopAt at) {
  WormHop& hop = hops_[at];
  hop.head_in = now_;
  const Channel& in = channels_[hop.in];
  if (in.to_host) return on_host_head(at);
  if (in.front == at) begin(at);
}

/// The head is in front: its route flit ends, and it is routed.
void WormModel::begin(HopAt at) {
  WormHop& hop = hops_[at];
  hop.waits = !has_route_flit(hop);
  if (hop.waits) {
    if (channels_[hop.in].came.runs) push(now_ + 1, Kind::NextIn, hop.in, at);
    return;
  }
  if (hop.strip > 0) {
    Channel& in = channels_[hop.in];
    in.taken.set(now_, in.taken.runs, hop.strip);
    if (options_.flow == WormFlow::Credits) push(now_ + in.back_delay, Kind::Credit, hop.in);
    mark(hop.in, now_);
  }
  push(now_ + options_.routing, Kind::Ask, hop.in, at);
}

bool WormModel::has_route_flit(const WormHop& hop) const {
  const WormStep& step = worms_[hop.worm].route->steps[hop.step];
  return !step.waits || arrived(hop, now_) > hop.strip;
}

void WormModel::on_ask(HopAt at) {
  WormHop& hop = hops_[at];
  if (is_locked_fork(hop)) ++forks_[graph_.channels[hop.in].to];
  for (std::uint8_t b = 0; b < hop.forks; ++b) {
    if (hop.branches[b].out == kNowhere) {
      hop.branches[b].chooses = true;
      push(now_, Kind::Choose, hop.in, at);
      continue;
    }
    hop.branches[b].asks = true;
    channels_[hop.branches[b].out].asking.push_back({at, b});
    push(now_, Kind::Grant, hop.branches[b].out);
  }
}

std::span<const WormChoice> WormModel::choices(const WormHop& hop, std::size_t branch) const {
  const WormRoute& route = *worms_[hop.worm].route;
  const WormBranch& at = route.branches[route.steps[hop.step].first + branch];
  return {route.choices.data() + at.first, at.choices};
}

/// Each branch that may choose asks for the first of its channels that is free. Where none is it is
/// told of the next one that becomes so.
void WormModel::on_choose(HopAt at) {
  if (choosing_.empty()) choosing_.resize(channels_.size());
  WormHop& hop = hops_[at];
  for (std::uint8_t b = 0; b < hop.forks; ++b) {
    WormHop::Branch& branch = hop.branches[b];
    if (!branch.chooses) continue;
    const auto is_it = [&](const OutputRequest& who) { return who.hop == at && who.branch == b; };
    for (const WormChoice& choice : choices(hop, b)) {
      std::erase_if(choosing_[choice.out], is_it);
      if (!branch.chooses || !is_free(channels_[choice.out])) continue;
      branch.chooses = false;
      branch.asks = true;
      branch.out = choice.out;
      branch.next = choice.next;
      channels_[choice.out].proposed = true;
      channels_[choice.out].asking.push_back({at, b});
      push(now_, Kind::Grant, choice.out);
    }
    if (!branch.chooses) continue;
    for (const WormChoice& choice : choices(hop, b)) choosing_[choice.out].push_back({at, b});
  }
}

/// Whether a head may have the lane.
bool WormModel::is_free(const Channel& channel) const {
  if (channel.owner != kNowhere) return false;
  const bool has_buffer = !channel.from_host && !channel.to_host && !channel.dead;
  if (options_.allocation == WormAllocation::NonAtomic || !has_buffer) return true;
  return channel.returned.before(now_) == channel.sent.before(now_);
}

/// It is free: whoever waits for it is told.
void WormModel::offer_lane(ChannelAt at) {
  if (!channels_[at].asking.empty()) push(now_, Kind::Grant, at);
  if (choosing_.empty()) return;
  for (const OutputRequest& who : choosing_[at])
    push(now_, Kind::Choose, hops_[who.hop].in, who.hop);
}

/// Round robin: of the inputs that ask the next one after that which had it last.
void WormModel::on_grant(ChannelAt at) {
  Channel& channel = channels_[at];
  if (!is_free(channel) || channel.asking.empty()) return;
  const auto turn = [&](const OutputRequest& who) {
    return hops_[who.hop].in - channel.last_granted - 1;  // wraps around
  };
  std::size_t chosen = 0;
  for (std::size_t i = 1; i < channel.asking.size(); ++i) {
    if (turn(channel.asking[i]) < turn(channel.asking[chosen])) chosen = i;
  }
  const OutputRequest who = channel.asking[chosen];
  channel.asking.erase(channel.asking.begin() + static_cast<std::ptrdiff_t>(chosen));
  channel.last_granted = hops_[who.hop].in;
  if (channel.proposed) {
    // Who may choose looks again, at all that are free then.
    channel.proposed = false;
    std::erase_if(channel.asking, [&](const OutputRequest& other) {
      WormHop& hop = hops_[other.hop];
      if (choices(hop, other.branch).empty()) return false;
      hop.branches[other.branch].asks = false;
      hop.branches[other.branch].chooses = true;
      push(now_ + 1, Kind::Choose, hop.in, other.hop);
      return true;
    });
  }
  connect(at, who.hop, who.branch);
}

void WormModel::connect(ChannelAt at, HopAt hop, std::uint8_t number) {
  Channel& channel = channels_[at];
  channel.owner = hop;
  channel.owner_branch = number;
  WormHop::Branch& branch = hops_[hop].branches[number];
  branch.asks = false;
  branch.granted = true;
  branch.lost = channel.dead;
  if (branch.lost) worms_[hops_[hop].worm].cut = true;
  branch.base = channel.sent.before(now_);
  look(graph_.channels[at].cable, now_);
}

void WormModel::on_tail_left(ChannelAt at) {
  Channel& channel = channels_[at];
  const HopAt owner = channel.owner;
  channel.owner = kNowhere;
  if (channel.dead && !channel.down) mend(at);
  look(graph_.channels[at].cable, now_);
  if (channel.from_host) push(now_, Kind::Grant, at);
  if (is_free(channel)) offer_lane(at);
  const WormHop& hop = hops_[owner];
  const auto is_done = [](const WormHop::Branch& branch) { return branch.done; };
  // A branch whose last flit leaves in this very cycle is not done: it ends in the next.
  for (std::size_t b = 0; b < hop.forks; ++b) {
    if (!is_done(hop.branches[b]) || channels_[hop.branches[b].out].owner == owner) return;
  }
  finish(owner);
}

void WormModel::finish(HopAt at) {
  const WormHop hop = hops_[at];
  if (hop.in == kNowhere) {
    watcher_.on_left(hop.worm, now_);
    return free_hop(at);
  }
  Channel& in = channels_[hop.in];
  remove(hop.in, at);
  free_hop(at);
  if (in.to_host) {
    hosts_[graph_.host_of[graph_.channels[hop.in].to]].memory -= hop.room;
    return;
  }
  if (is_locked_fork(hop)) --forks_[graph_.channels[hop.in].to];
  set_taken(hop.in, false);
  if (in.front == kNowhere || hops_[in.front].head_in < 0) return;
  hops_[in.front].waits = true;  // until it is known what comes in now
  push(now_, Kind::NextIn, hop.in, in.front);
}

void WormModel::mark(ChannelAt at, Cycle when) {
  Channel& channel = channels_[at];
  if (channel.mark_at <= when) return;
  channel.mark_at = when;
  push(when, Kind::Mark, at);
}

std::uint64_t WormModel::held_before(const Channel& channel) const {
  const auto held =
      static_cast<std::int64_t>(channel.came.before(now_) - channel.taken.before(now_));
  return static_cast<std::uint64_t>(std::max<std::int64_t>(0, held));
}

/// Flits leave a fork's buffer when its last branch has them.
void WormModel::retally_fork(ChannelAt at, WormHop& front) {
  Channel& channel = channels_[at];
  std::int64_t least = front.flits;
  for (std::size_t b = 0; b < front.forks; ++b) {
    least = std::min(least, left(front, front.branches[b], now_ + 1));
  }
  const auto taken = front.base + static_cast<std::uint64_t>(least) + front.strip;
  const std::uint64_t before = channel.taken.before(now_);
  const bool runs = taken > before;
  if (runs != channel.taken.runs && options_.flow == WormFlow::Credits && !channel.dead) {
    push(now_ + channel.back_delay, runs ? Kind::CreditsOn : Kind::CreditsOff, at);
  }
  channel.taken.set(now_, runs);
  // As it goes on from the next cycle: all that have had least must move.
  bool goes_on = true;
  Cycle until = kNoCycle;
  for (std::size_t b = 0; b < front.forks; ++b) {
    const WormHop::Branch& branch = front.branches[b];
    const std::int64_t ahead = left(front, branch, now_ + 1) - least;
    const bool moves = branch.begun && !branch.done && channels_[branch.out].sent.runs;
    if (moves || branch.done) continue;
    if (ahead == 0) goes_on = false;
    until = std::min(until, now_ + 1 + ahead);
  }
  if (goes_on != runs) {
    mark(at, now_ + 1);
  } else if (runs && until != kNoCycle) {
    mark(at, until);
  }
}

void WormModel::on_mark(ChannelAt at) {
  Channel& channel = channels_[at];
  if (channel.mark_at != now_) return;
  channel.mark_at = kNoCycle;
  if (channel.front != kNowhere && hops_[channel.front].forks > 1) {
    WormHop& front = hops_[channel.front];
    if (front.branches[0].granted || front.branches[1].granted) retally_fork(at, front);
  }
  const std::uint64_t fill = channel.came.before(now_ + 1) - channel.taken.before(now_ + 1);
  // What it held until now, where it ceases to grow; a route flit that ends now counts as gone, one
  // that the far end of a cable makes now has not been there.
  const std::uint64_t held = channel.cut_at == now_ ? 0 : held_before(channel);
  channel.fullest = std::max({channel.fullest, fill, held});
  if (options_.flow == WormFlow::Credits) return;
  if (!channel.said_stop && fill > options_.stop) {
    channel.said_stop = true;
    if (!channel.dead) push(now_ + channel.back_delay, Kind::Stop, at);
  } else if (channel.said_stop && fill < options_.go) {
    channel.said_stop = false;
    if (!channel.dead) push(now_ + channel.back_delay, Kind::Go, at);
  }
  if (channel.came.runs == channel.taken.runs) return;
  if (channel.came.runs && !channel.said_stop) {
    mark(at, now_ + static_cast<Cycle>(options_.stop + 1 - fill));
  } else if (channel.taken.runs && channel.said_stop) {
    mark(at, now_ + static_cast<Cycle>(fill + 1 - options_.go));
  }
}

Cycle WormModel::blocked(ChannelAt at, Cycle when) const {
  const Channel& channel = channels_[at];
  return channel.blocked + (channel.blocked_since < 0 ? 0 : when - channel.blocked_since);
}

std::uint64_t WormModel::fullest(ChannelAt at) const {
  const Channel& channel = channels_[at];
  return std::max(channel.fullest, channel.came.before(now_ + 1) - channel.taken.before(now_ + 1));
}

}  // namespace smd::sim

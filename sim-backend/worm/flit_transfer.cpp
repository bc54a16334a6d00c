// Which flits leave in a cycle, and for how long nothing about that changes.
#include <algorithm>

#include "sim-backend/worm/worm_model.h"

namespace smd::sim {

std::int64_t WormModel::arrived(const WormHop& hop, Cycle at) const {
  if (hop.in == kNowhere) return hop.flits;
  const std::uint64_t came = channels_[hop.in].came.before(at + 1);
  if (came <= hop.base) return 0;
  return static_cast<std::int64_t>(std::min<std::uint64_t>(came - hop.base, hop.flits));
}

/// Flits that have left by a branch, in cycles before `at`.
std::int64_t WormModel::left(const WormHop& hop, const WormHop::Branch& branch, Cycle at) const {
  if (!branch.begun) return 0;
  const std::int64_t all = hop.flits - hop.strip;
  const Channel& out = channels_[branch.out];
  if (branch.done && (out.owner == kNowhere || &hops_[out.owner] != &hop)) return all;
  return std::min(all, static_cast<std::int64_t>(out.sent.before(at) - branch.base));
}

std::int64_t WormModel::credits(const Channel& channel, Cycle at) const {
  return static_cast<std::int64_t>(options_.buffer + channel.returned.before(at + 1) -
                                   channel.sent.before(at));
}

bool WormModel::permitted(const Channel& channel, Cycle at) const {
  if (channel.to_host || channel.dead) return true;
  return options_.flow == WormFlow::Credits ? credits(channel, at) > 0 : !channel.stopped;
}

bool WormModel::ready(ChannelAt at) const {
  const Channel& channel = channels_[at];
  if (channel.owner == kNowhere) return false;
  const WormHop& hop = hops_[channel.owner];
  const WormHop::Branch& branch = hop.branches[channel.owner_branch];
  if (branch.done) return false;
  if (arrived(hop, now_) - hop.strip <= left(hop, branch, now_)) return false;
  if (!is_locked_fork(hop)) return permitted(channel, now_);
  for (std::size_t b = 0; b < hop.forks; ++b) {
    const WormHop::Branch& other = hop.branches[b];
    if (!other.granted || !permitted(channels_[other.out], now_)) return false;
  }
  return true;
}

void WormModel::look(std::uint32_t at, Cycle when) {
  LinkState& cable = cables_[at];
  if (cable.move_at <= when) return;
  cable.move_at = when;
  push(when, Kind::Move, at);
}

void WormModel::on_move(std::uint32_t at) {
  LinkState& cable = cables_[at];
  if (cable.move_at != now_) return;
  cable.move_at = kNoCycle;
  if (forks_[cable.node] == 0) return apply(cable, choose(cable));
  // A worm that forks in lock-step needs several cables at once: all of the node are decided
  // together.
  std::vector<bool> contended;
  for (const std::uint32_t other : cables_of_[cable.node]) {
    cables_[other].chosen_at = -1;
    if (cables_[other].move_at == now_) cables_[other].move_at = kNoCycle;
  }
  for (const std::uint32_t other : cables_of_[cable.node])
    contended.push_back(choose(cables_[other]));
  std::size_t i = 0;
  for (const std::uint32_t other : cables_of_[cable.node]) {
    LinkState& those = cables_[other];
    // What was passed over before a later cable took it is no longer waiting.
    bool waits = false;
    for (ChannelAt c = those.first; c < those.first + those.lanes; ++c) {
      waits = waits || (c != those.chosen && ready(c));
    }
    apply(those, waits || (contended[i++] && those.chosen == kNowhere));
  }
}

/// Lanes take turns; true when one that could send does not.
bool WormModel::choose(LinkState& cable) {
  if (cable.chosen_at != now_) cable.chosen = kNowhere;
  bool waits = false;
  const bool taken = cable.chosen_at == now_ && cable.chosen != kNowhere;
  for (std::uint32_t k = 1; k <= cable.lanes; ++k) {
    const std::uint32_t lane = (cable.last_lane + k) % cable.lanes;
    const ChannelAt at = cable.first + lane;
    if (at == cable.chosen || !ready(at)) continue;
    if (taken || cable.chosen != kNowhere) {
      waits = true;
      continue;
    }
    const WormHop& hop = hops_[channels_[at].owner];
    if (!is_locked_fork(hop)) {
      cable.chosen = at;
      cable.chosen_at = now_;
      continue;
    }
    const auto cable_of = [this](ChannelAt c) -> LinkState& {
      return cables_[graph_.channels[c].cable];
    };
    bool free = true;
    for (std::size_t b = 0; b < hop.forks; ++b) {
      const LinkState& other = cable_of(hop.branches[b].out);
      free = free && (other.chosen_at != now_ || other.chosen == kNowhere);
    }
    if (!free) {
      waits = true;
      continue;
    }
    for (std::size_t b = 0; b < hop.forks; ++b) {
      LinkState& other = cable_of(hop.branches[b].out);
      other.chosen = hop.branches[b].out;
      other.chosen_at = now_;
    }
  }
  cable.chosen_at = now_;
  return waits;
}

void WormModel::apply(LinkState& cable, bool contended) {
  for (ChannelAt c = cable.first; c < cable.first + cable.lanes; ++c) {
    if (c != cable.chosen) set_sending(c, false);
  }
  Cycle next = contended ? now_ + 1 : kNoCycle;
  if (cable.chosen != kNowhere) {
    cable.last_lane = cable.chosen - cable.first;
    set_sending(cable.chosen, true);
    next = std::min(next, predict(cable.chosen));
  }
  const auto at = static_cast<std::uint32_t>(&cable - cables_.data());
  if (next != kNoCycle) look(at, next);
}

void WormModel::set_sending(ChannelAt at, bool on) {
  Channel& channel = channels_[at];
  if (options_.flow == WormFlow::Credits && !channel.to_host) {
    if (permitted(channel, now_)) {
      end_blocked(channel);
    } else {
      if (channel.blocked_since < 0) channel.blocked_since = now_;
      // A flit that the far end made had no credit: the first one is its, and the next one counts.
      if (channel.returned.runs) look(graph_.channels[at].cable, now_ + 1);
    }
  }
  if (channel.owner != kNowhere) {
    const HopAt owner = channel.owner;
    if (on && !hops_[owner].branches[channel.owner_branch].begun) {
      begin_down(at, hops_[owner], hops_[owner].branches[channel.owner_branch]);
    }
    const WormHop& hop = hops_[owner];
    if (hop.in != kNowhere && !channels_[hop.in].to_host) {
      if (hop.forks == 1) {
        set_taken(hop.in, on);
      } else {
        mark(hop.in, now_);
      }
    }
  }
  if (channel.sent.runs == on) return;
  channel.sent.set(now_, on);
  if (!channel.dead) push(now_ + channel.forth, on ? Kind::ComesOn : Kind::ComesOff, at);
}

void WormModel::set_taken(ChannelAt at, bool on) {
  Channel& channel = channels_[at];
  if (channel.taken.runs == on) return;
  channel.taken.set(now_, on);
  if (options_.flow == WormFlow::Credits && !channel.dead) {
    push(now_ + channel.back_delay, on ? Kind::CreditsOn : Kind::CreditsOff, at);
  }
  mark(at, now_);
}

/// The first flit leaves: from now on the worm is expected at the far end.
void WormModel::begin_down(ChannelAt at, WormHop& from, WormHop::Branch& branch) {
  Channel& channel = channels_[at];
  if (from.in == kNowhere) worms_[from.worm].left = now_;
  branch.begun = true;
  if (branch.lost) return;
  const std::uint32_t step =
      branch.next < kToLayOut ? branch.next : watcher_.lay_out(from.worm, branch.next - kToLayOut);
  const WormHop down{.worm = from.worm,
                     .step = step,
                     .in = at,
                     .base = channel.sent.before(now_) - static_cast<std::uint64_t>(channel.lost),
                     .flits = from.flits - from.strip,
                     .cut = from.cut};
  const HopAt owner = channel.owner;
  const std::uint8_t number = channel.owner_branch;
  const HopAt hop = add_hop(down);  // `from` and `branch` may have moved
  hops_[owner].branches[number].down = hop;
  (channel.back == kNowhere ? channel.front : hops_[channel.back].after) = hop;
  channel.back = hop;
  push(now_ + channel.forth, Kind::HeadIn, at, hop);
}

/// Until when what was chosen goes on by itself. Its last flit is noted as it leaves.
Cycle WormModel::predict(ChannelAt at) {
  const Channel& channel = channels_[at];
  WormHop& hop = hops_[channel.owner];
  WormHop::Branch& branch = hop.branches[channel.owner_branch];
  const std::int64_t gone = left(hop, branch, now_);
  const std::int64_t remaining = hop.flits - hop.strip - gone;
  Cycle next = kNoCycle;
  if (remaining == 1) {
    branch.done = true;
    push(now_ + 1, Kind::TailLeft, at);
    if (channel.to_host && !branch.lost) {
      push(now_ + channel.forth, Kind::TailIn, at, branch.down);
    }
  } else {
    next = now_ + remaining - 1;
  }
  if (hop.in != kNowhere && !channels_[hop.in].came.runs) {
    const std::int64_t here = arrived(hop, now_) - hop.strip;
    if (here < hop.flits - hop.strip) next = std::min(next, now_ + here - gone);
  }
  if (options_.flow == WormFlow::StopAndGo) return next;
  const auto limit = [&](const Channel& out) {
    if (!out.to_host && !out.dead && !out.returned.runs)
      next = std::min(next, now_ + credits(out, now_));
  };
  if (!is_locked_fork(hop)) {
    limit(channel);
  } else {
    for (std::size_t b = 0; b < hop.forks; ++b) limit(channels_[hop.branches[b].out]);
  }
  return next;
}

}  // namespace smd::sim

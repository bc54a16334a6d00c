// Which flits leave in a cycle, and for how long nothing about that changes.
#include <algorithm>

#include "sim-backend/worm/streams.h"

namespace smd::sim {

std::int64_t WormStreams::arrived(const Reach& reach, Cycle at) const {
  if (reach.in == kNowhere) return reach.flits;
  const std::uint64_t came = channels_[reach.in].came.before(at + 1);
  if (came <= reach.base) return 0;
  return static_cast<std::int64_t>(std::min<std::uint64_t>(came - reach.base, reach.flits));
}

/// Flits that have left by a branch, in cycles before `at`.
std::int64_t WormStreams::left(const Reach& reach, const Reach::Branch& branch, Cycle at) const {
  if (branch.down == kNowhere) return 0;
  const std::int64_t all = reach.flits - reach.strip;
  const Channel& out = channels_[branch.out];
  if (branch.done && (out.owner == kNowhere || &reaches_[out.owner] != &reach)) return all;
  return std::min(all, static_cast<std::int64_t>(out.sent.before(at) - branch.base));
}

std::int64_t WormStreams::credits(const Channel& channel, Cycle at) const {
  return static_cast<std::int64_t>(options_.buffer + channel.returned.before(at + 1) -
                                   channel.sent.before(at));
}

bool WormStreams::permitted(const Channel& channel, Cycle at) const {
  if (channel.to_host) return true;
  return options_.flow == WormFlow::Credits ? credits(channel, at) > 0 : !channel.stopped;
}

bool WormStreams::ready(ChannelAt at) const {
  const Channel& channel = channels_[at];
  if (channel.owner == kNowhere) return false;
  const Reach& reach = reaches_[channel.owner];
  const Reach::Branch& branch = reach.branches[channel.owner_branch];
  if (branch.done) return false;
  if (arrived(reach, now_) - reach.strip <= left(reach, branch, now_)) return false;
  if (!is_locked_fork(reach)) return permitted(channel, now_);
  for (std::size_t b = 0; b < reach.forks; ++b) {
    const Reach::Branch& other = reach.branches[b];
    if (!other.granted || !permitted(channels_[other.out], now_)) return false;
  }
  return true;
}

void WormStreams::look(std::uint32_t at, Cycle when) {
  Cable& cable = cables_[at];
  if (cable.move_at <= when) return;
  cable.move_at = when;
  push(when, Kind::Move, at);
}

void WormStreams::on_move(std::uint32_t at) {
  Cable& cable = cables_[at];
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
    Cable& those = cables_[other];
    // What was passed over before a later cable took it is no longer waiting.
    bool waits = false;
    for (ChannelAt c = those.first; c < those.first + those.lanes; ++c) {
      waits = waits || (c != those.chosen && ready(c));
    }
    apply(those, waits || (contended[i++] && those.chosen == kNowhere));
  }
}

/// Lanes take turns; true when one that could send does not.
bool WormStreams::choose(Cable& cable) {
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
    const Reach& reach = reaches_[channels_[at].owner];
    if (!is_locked_fork(reach)) {
      cable.chosen = at;
      cable.chosen_at = now_;
      continue;
    }
    const auto cable_of = [this](ChannelAt c) -> Cable& {
      return cables_[graph_.channels[c].cable];
    };
    bool free = true;
    for (std::size_t b = 0; b < reach.forks; ++b) {
      const Cable& other = cable_of(reach.branches[b].out);
      free = free && (other.chosen_at != now_ || other.chosen == kNowhere);
    }
    if (!free) {
      waits = true;
      continue;
    }
    for (std::size_t b = 0; b < reach.forks; ++b) {
      Cable& other = cable_of(reach.branches[b].out);
      other.chosen = reach.branches[b].out;
      other.chosen_at = now_;
    }
  }
  cable.chosen_at = now_;
  return waits;
}

void WormStreams::apply(Cable& cable, bool contended) {
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

void WormStreams::set_sending(ChannelAt at, bool on) {
  Channel& channel = channels_[at];
  if (options_.flow == WormFlow::Credits && !channel.to_host && channel.blocked_since < 0 &&
      !permitted(channel, now_)) {
    channel.blocked_since = now_;
  }
  if (channel.owner != kNowhere) {
    const ReachAt owner = channel.owner;
    if (on && reaches_[owner].branches[channel.owner_branch].down == kNowhere) {
      begin_down(at, reaches_[owner], reaches_[owner].branches[channel.owner_branch]);
    }
    const Reach& reach = reaches_[owner];
    if (reach.in != kNowhere && !channels_[reach.in].to_host) {
      if (reach.forks == 1) {
        set_taken(reach.in, on);
      } else {
        mark(reach.in, now_);
      }
    }
  }
  if (channel.sent.runs == on) return;
  channel.sent.set(now_, on);
  push(now_ + channel.forth, on ? Kind::ComesOn : Kind::ComesOff, at);
}

void WormStreams::set_taken(ChannelAt at, bool on) {
  Channel& channel = channels_[at];
  if (channel.taken.runs == on) return;
  channel.taken.set(now_, on);
  if (options_.flow == WormFlow::Credits) {
    push(now_ + channel.back_delay, on ? Kind::CreditsOn : Kind::CreditsOff, at);
  }
  mark(at, now_);
}

/// The first flit leaves: from now on the worm is expected at the far end.
void WormStreams::begin_down(ChannelAt at, Reach& from, Reach::Branch& branch) {
  Channel& channel = channels_[at];
  if (from.in == kNowhere) worms_[from.worm].left = now_;
  const Reach down{.worm = from.worm,
                   .step = branch.next,
                   .in = at,
                   .base = channel.sent.before(now_),
                   .flits = from.flits - from.strip};
  const ReachAt owner = channel.owner;
  const std::uint8_t number = channel.owner_branch;
  const ReachAt reach = add_reach(down);  // `from` and `branch` may have moved
  reaches_[owner].branches[number].down = reach;
  (channel.back == kNowhere ? channel.front : reaches_[channel.back].after) = reach;
  channel.back = reach;
  push(now_ + channel.forth, Kind::HeadIn, at, reach);
}

/// Until when what was chosen goes on by itself. Its last flit is noted as it leaves.
Cycle WormStreams::predict(ChannelAt at) {
  const Channel& channel = channels_[at];
  Reach& reach = reaches_[channel.owner];
  Reach::Branch& branch = reach.branches[channel.owner_branch];
  const std::int64_t gone = left(reach, branch, now_);
  const std::int64_t remaining = reach.flits - reach.strip - gone;
  Cycle next = kNoCycle;
  if (remaining == 1) {
    branch.done = true;
    push(now_ + 1, Kind::TailLeft, at);
    if (channel.to_host) push(now_ + channel.forth, Kind::TailIn, at, branch.down);
  } else {
    next = now_ + remaining - 1;
  }
  if (reach.in != kNowhere && !channels_[reach.in].came.runs) {
    const std::int64_t here = arrived(reach, now_) - reach.strip;
    if (here < reach.flits - reach.strip) next = std::min(next, now_ + here - gone);
  }
  if (options_.flow == WormFlow::StopAndGo) return next;
  const auto limit = [&](const Channel& out) {
    if (!out.to_host && !out.returned.runs) next = std::min(next, now_ + credits(out, now_));
  };
  if (!is_locked_fork(reach)) {
    limit(channel);
  } else {
    for (std::size_t b = 0; b < reach.forks; ++b) limit(channels_[reach.branches[b].out]);
  }
  return next;
}

}  // namespace smd::sim

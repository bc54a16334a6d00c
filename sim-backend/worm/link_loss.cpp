// Cables that go down and come up: what is lost with them, and what goes on shorter.
#include <algorithm>

#include "sim-backend/worm/worm_model.h"

namespace smd::sim {

/// Whether what comes in now was on the cable when it went down.
bool WormModel::is_lost_on_wire(ChannelAt at) const {
  const Channel& channel = channels_[at];
  return channel.cut_at != kNoCycle && now_ < channel.cut_at + channel.forth;
}

bool WormModel::is_lost_symbol(ChannelAt at) const {
  const Channel& channel = channels_[at];
  return channel.cut_at != kNoCycle && now_ < channel.cut_at + channel.back_delay;
}

void WormModel::on_cable(std::uint32_t at, bool up) {
  const LinkState& cable = cables_[at];
  for (ChannelAt c = cable.first; c < cable.first + cable.lanes; ++c) {
    Channel& channel = channels_[c];
    channel.down = !up;
    if (!up && !channel.dead) cut(c);
    if (up && channel.dead && channel.owner == kNowhere) mend(c);
    if (is_free(channel)) offer_lane(c);
  }
  look(at, now_);
}

void WormModel::cut(ChannelAt at) {
  Channel& channel = channels_[at];
  channel.dead = true;
  channel.cut_at = now_;
  end_blocked(channel);
  channel.fullest = std::max(channel.fullest, held_before(channel));
  channel.came.set(now_, false);
  if (channel.owner != kNowhere) {
    WormHop& owner = hops_[channel.owner];
    owner.branches[channel.owner_branch].lost = true;
    worms_[owner.worm].cut = true;
  }
  for (HopAt hop = channel.front; hop != kNowhere;) {
    const HopAt next = hops_[hop].after;
    if (hops_[hop].head_in < 0) {
      lose(hop);
    } else if (const std::int64_t here = arrived(hops_[hop], now_); here < hops_[hop].flits) {
      channel.came.set(now_, false, 1);
      shorten(hop, static_cast<std::uint32_t>(here) + 1);
      if (channel.to_host) on_tail_in(hop);
    }
    hop = next;
  }
  on_comes(at, false);
}

/// All of it was on the cable.
void WormModel::lose(HopAt hop) {
  worms_[hops_[hop].worm].cut = true;
  remove(hops_[hop].in, hop);
  free_hop(hop);
}

void WormModel::shorten(HopAt at, std::uint32_t flits) {
  WormHop& hop = hops_[at];
  hop.flits = flits;
  hop.cut = true;
  worms_[hop.worm].cut = true;
  look_at_outputs(hop);
  for (std::size_t b = 0; b < hop.forks; ++b) {
    const WormHop::Branch& branch = hop.branches[b];
    if (branch.begun && !branch.lost) shorten(branch.down, flits);
  }
}

/// Both ends tell each other how things stand.
void WormModel::mend(ChannelAt at) {
  Channel& channel = channels_[at];
  channel.dead = false;
  channel.stopped = channel.said_stop;
  if (channel.stopped) channel.blocked_since = now_;
  channel.sent.set(now_, false);
  const std::uint64_t sent = channel.sent.before(now_), came = channel.came.before(now_);
  channel.lost = static_cast<std::int64_t>(sent) - static_cast<std::int64_t>(came);
  if (options_.flow != WormFlow::Credits || channel.to_host) return;
  channel.returned.set(now_, false);
  channel.returned.done = sent - (came - channel.taken.before(now_));
  if (channel.taken.runs) push(now_ + channel.back_delay, Kind::CreditsOn, at);
}

}  // namespace smd::sim

// Hosts: what they send, what they take in, and what they pass on from memory.
#include <algorithm>

#include "sim-backend/worm/worm_model.h"

namespace smd::sim {

/// The senders that are free look for work.
void WormModel::offer(std::uint32_t node) {
  for (const ChannelAt c : graph_.out_of[node]) {
    if (channels_[c].owner == kNowhere && !channels_[c].reserved) push(now_, Kind::Grant, c);
  }
}

void WormModel::on_host_head(HopAt at) {
  WormHop& hop = hops_[at];
  if (hop.forks == 0) return;
  Host& host = hosts_[graph_.host_of[graph_.channels[hop.in].to]];
  if (host.memory + hop.flits > options_.memory) {
    hop.dropped = true;
    return;
  }
  hop.room = hop.flits;
  host.memory += hop.room;
  ++worms_[hop.worm].transits;
  push(now_ + options_.detection, Kind::Detected, hop.in, at);
}

void WormModel::on_tail_in(HopAt at) {
  const WormHop& hop = hops_[at];
  if (hop.forks > 0 && !hop.dropped) return;
  watcher_.on_end({.worm = hop.worm,
                   .node = graph_.channels[hop.in].to,
                   .head = hop.head_in,
                   .tail = now_,
                   .dropped = hop.dropped,
                   .cut = hop.cut});
  remove(hops_[at].in, at);
  free_hop(at);
}

/// Whether a local message goes before those in transit, of which there is one.
bool WormModel::takes_local(Host& host) const {
  const std::size_t waiting = host.local.size();
  const auto& marks = options_.local_marks;
  const std::uint32_t need = options_.local_after[waiting <= marks[0]   ? 0
                                                  : waiting <= marks[1] ? 1
                                                                        : 2];
  if (waiting > 0 && host.since_local >= need) return true;
  ++host.since_local;
  return false;
}

void WormModel::on_engine(ChannelAt at) {
  Channel& channel = channels_[at];
  if (channel.owner != kNowhere || channel.reserved) return;
  Host& host = hosts_[graph_.host_of[graph_.channels[at].from]];
  const bool local = host.transit.empty() ? !host.local.empty() : takes_local(host);
  if (local) {
    const WormAt worm = host.local.front();
    host.local.pop_front();
    host.since_local = 0;
    --waiting_;
    if (worms_[worm].route == nullptr) watcher_.on_start(worm);
    const HopAt hop = add_hop({.worm = worm, .flits = worms_[worm].flits});
    hops_[hop].branches[0].out = at;
    return connect(at, hop, 0);
  }
  if (host.transit.empty()) return;
  const HopAt hop = host.transit.front();
  host.transit.pop_front();
  hops_[hop].branches[0].out = at;
  channel.reserved = true;
  push(now_ + options_.dma, Kind::Programmed, at, hop);
}

}  // namespace smd::sim

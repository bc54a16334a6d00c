// Hosts: what they send, what they take in, and what they pass on from memory.
#include <algorithm>

#include "sim-backend/worm/streams.h"

namespace smd::sim {

/// The senders that are free look for work.
void WormStreams::offer(std::uint32_t node) {
  for (const ChannelAt c : graph_.out_of[node]) {
    if (channels_[c].owner == kNowhere && !channels_[c].reserved) push(now_, Kind::Grant, c);
  }
}

void WormStreams::on_host_head(ReachAt at) {
  Reach& reach = reaches_[at];
  if (reach.forks == 0) return;
  Host& host = hosts_[graph_.host_of[graph_.channels[reach.in].to]];
  if (host.memory + reach.flits > options_.memory) {
    reach.dropped = true;
    return;
  }
  host.memory += reach.flits;
  ++worms_[reach.worm].transits;
  push(now_ + options_.detection, Kind::Detected, reach.in, at);
}

void WormStreams::on_tail_in(ReachAt at) {
  const Reach& reach = reaches_[at];
  if (reach.forks > 0 && !reach.dropped) return;
  watcher_.on_end(reach.worm, graph_.channels[reach.in].to, reach.head_in, now_, reach.dropped);
  remove(reaches_[at].in, at);
  free_reach(at);
}

/// Whether a local message goes before those in transit, of which there is one.
bool WormStreams::takes_local(Host& host) const {
  const std::size_t waiting = host.local.size();
  const auto& marks = options_.local_marks;
  const std::uint32_t need = options_.local_after[waiting <= marks[0]   ? 0
                                                  : waiting <= marks[1] ? 1
                                                                        : 2];
  if (waiting > 0 && host.since_local >= need) return true;
  ++host.since_local;
  return false;
}

void WormStreams::on_engine(ChannelAt at) {
  Channel& channel = channels_[at];
  if (channel.owner != kNowhere || channel.reserved) return;
  Host& host = hosts_[graph_.host_of[graph_.channels[at].from]];
  const bool local = host.transit.empty() ? !host.local.empty() : takes_local(host);
  if (local) {
    const WormAt worm = host.local.front();
    host.local.pop_front();
    host.since_local = 0;
    --waiting_;
    const ReachAt reach = add_reach({.worm = worm, .flits = worms_[worm].flits});
    reaches_[reach].branches[0].out = at;
    return connect(at, reach, 0);
  }
  if (host.transit.empty()) return;
  const ReachAt reach = host.transit.front();
  host.transit.pop_front();
  reaches_[reach].branches[0].out = at;
  channel.reserved = true;
  push(now_ + options_.dma, Kind::Programmed, at, reach);
}

}  // namespace smd::sim

#include "smd/routing/verify/channel_load.h"

#include <algorithm>
#include <cmath>

#include "smd/routing/verify/check_routes.h"
#include "smd/routing/verify/patterns.h"

namespace smd {

std::vector<PortIdx> find_channels(const Fabric& fabric) {
  std::vector<PortIdx> channels;
  for (const NodeIdx node : fabric.switch_node) {
    for (const PortIdx port : fabric.external_ports(node)) {
      const PortIdx peer = fabric.peer[port];
      if (peer == kNone<PortIdx> || fabric.node_of[peer] == node) continue;
      if (fabric.is_switch(fabric.node_of[peer])) channels.push_back(port);
    }
  }
  return channels;
}

ChannelLoad::ChannelLoad(const Fabric& fabric, const ForwardingTables& tables)
    : fabric_(fabric),
      tables_(tables),
      walk_(fabric, tables),
      load_(fabric.port_count(), 0),
      passing_(fabric.switch_count(), 0) {}

std::uint64_t ChannelLoad::add_tree(Lid lid,
                                    PortIdx owner,
                                    const IndexVector<SwitchIdx, std::uint64_t>& packets) {
  walk_.follow(lid, owner);
  for (std::vector<SwitchIdx>& some : by_hops_) some.clear();
  std::uint64_t lost = 0;
  for (const SwitchIdx sw : passing_.indices()) {
    passing_[sw] = packets[sw];
    if (walk_.result(sw) != PathResult::Arrives) {
      lost += packets[sw];
      continue;
    }
    if (by_hops_.size() <= walk_.hops(sw)) by_hops_.resize(walk_.hops(sw) + 1);
    by_hops_[walk_.hops(sw)].push_back(sw);
  }
  // Farthest first: when a switch's turn comes, everything that passes it has arrived there. The
  // destination itself never leaves the last switch, so it adds to no channel.
  for (std::size_t hops = by_hops_.size(); hops-- > 1;) {
    for (const SwitchIdx sw : by_hops_[hops]) {
      load_[fabric_.port_of(fabric_.switch_node[sw], walk_.egress(sw))] += passing_[sw];
      passing_[walk_.next(sw)] += passing_[sw];
    }
  }
  return lost;
}

PortIdx ChannelLoad::find_egress(SwitchIdx sw, Lid lid) const {
  if (sw.value() >= tables_.switches() || lid.value() / kLftBlockSize >= tables_.blocks())
    return kNone<PortIdx>;
  const NodeIdx node = fabric_.switch_node[sw];
  const PortNum egress = tables_.route(sw, lid);
  return egress.value() > fabric_.num_ports(node) ? kNone<PortIdx> : fabric_.port_of(node, egress);
}

bool ChannelLoad::find_path(SwitchIdx from,
                            Lid lid,
                            PortIdx owner,
                            std::vector<PortIdx>& channels) const {
  const std::size_t before = channels.size();
  for (SwitchIdx sw = from; sw != kNone<SwitchIdx>;) {
    const PortIdx egress = find_egress(sw, lid);
    if (egress == owner) return true;  // the switch itself
    if (egress == kNone<PortIdx> || fabric_.number_of(egress) == PortNum{0}) break;
    const PortIdx peer = fabric_.peer[egress];
    if (peer == owner) return true;
    if (peer == kNone<PortIdx> || channels.size() - before > fabric_.switch_count()) break;
    sw = fabric_.switch_at(peer);
    channels.push_back(egress);
  }
  channels.resize(before);
  return false;
}

void ChannelLoad::clear() { load_.assign(load_.size(), 0); }

// measure_load(): how evenly tables spread the paths between hosts.

LoadReport measure_load(const Fabric& fabric, const LidMap& lids, const ForwardingTables& tables) {
  IndexVector<SwitchIdx, std::uint64_t> hosts(fabric.switch_count(), 0);
  for (const PortIdx port : fabric.peer.indices()) {
    if (!fabric.is_host(port)) continue;
    const SwitchIdx sw = fabric.switch_at(fabric.peer[port]);
    if (sw != kNone<SwitchIdx>) ++hosts[sw];
  }
  ChannelLoad load(fabric, tables);
  for (const PortIdx destination : find_hosts(fabric, lids))
    load.add_tree(lids.base[destination], destination, hosts);

  return summarise_load(fabric, find_channels(fabric), load.all());
}

std::uint64_t link_mbps(const Fabric& fabric, PortIdx port) {
  return std::uint64_t{lanes(active_width(fabric.port_info[port]))} *
         lane_mbps(link_speed(fabric, port));
}

ChannelSpeeds::ChannelSpeeds(const Fabric& fabric, const std::vector<PortIdx>& channels)
    : fabric_(fabric) {
  std::uint64_t slowest = 0, fastest = 0;
  for (const PortIdx channel : channels) {
    const std::uint64_t own = link_mbps(fabric, channel);
    if (own == 0) continue;
    slowest = slowest == 0 ? own : std::min(slowest, own);
    fastest = std::max(fastest, own);
  }
  known_ = slowest != 0;
  mixed_ = slowest != fastest;
  slowest_ = known_ ? slowest : 1;
}

LoadReport summarise_load(const Fabric& fabric,
                          const std::vector<PortIdx>& channels,
                          const IndexVector<PortIdx, std::uint64_t>& load) {
  LoadReport report;
  if (channels.empty()) return report;
  const auto count = static_cast<double>(channels.size());
  const ChannelSpeeds speeds(fabric, channels);
  report.mixed_speeds = speeds.mixed();
  if (speeds.known()) report.slowest_gbps = static_cast<double>(speeds.slowest()) / 1000;
  double sum = 0;
  for (const PortIdx channel : channels) {
    report.max = std::max(report.max, load[channel]);
    if (speeds.mixed()) {
      report.fullest = std::max(report.fullest,
                                static_cast<double>(load[channel] * speeds.slowest()) /
                                    static_cast<double>(speeds.of(channel)));
    }
    sum += static_cast<double>(load[channel]);
  }
  if (!speeds.mixed()) report.fullest = static_cast<double>(report.max);
  report.mean = sum / count;
  double squares = 0;
  for (const PortIdx channel : channels) {
    const double off = static_cast<double>(load[channel]) - report.mean;
    squares += off * off;
  }
  report.stddev = std::sqrt(squares / count);
  return report;
}

}  // namespace smd

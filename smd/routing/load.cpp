// measure_load(): how evenly tables spread the paths between hosts.
#include <algorithm>
#include <cmath>

#include "smd/routing/check.h"
#include "smd/routing/walk.h"

namespace smd {
namespace {

// Ports of switches that lead to another switch.
std::vector<PortIdx> find_channels(const Fabric& fabric) {
  std::vector<PortIdx> channels;
  for (const NodeIdx node : fabric.switch_node) {
    for (const PortIdx port : fabric.external_ports(node)) {
      const PortIdx far = fabric.peer[port];
      if (far == kNone<PortIdx> || fabric.node_of[far] == node) continue;
      if (fabric.is_switch(fabric.node_of[far])) channels.push_back(port);
    }
  }
  return channels;
}

}  // namespace

LoadReport measure_load(const Fabric& fabric, const LidMap& lids, const ForwardingTables& tables) {
  const auto is_host = [&](PortIdx port) {
    return fabric.is_end_port(port) && !fabric.is_switch(fabric.node_of[port]);
  };
  IndexVector<SwitchIdx, std::uint64_t> hosts(fabric.switch_count(), 0);
  std::vector<PortIdx> destinations;
  for (const PortIdx port : fabric.peer.indices()) {
    if (!is_host(port)) continue;
    const SwitchIdx sw = fabric.switch_of[fabric.node_of[fabric.peer[port]]];
    if (sw == kNone<SwitchIdx>) continue;
    ++hosts[sw];
    if (lids.base[port] != kUnassignedLid) destinations.push_back(port);
  }

  Walk walk{fabric, tables};
  IndexVector<PortIdx, std::uint64_t> load(fabric.port_count(), 0);
  IndexVector<SwitchIdx, std::uint64_t> paths(fabric.switch_count(), 0);
  std::vector<std::vector<SwitchIdx>> by_hops;
  for (const PortIdx destination : destinations) {
    walk.follow(lids.base[destination], destination);
    for (std::vector<SwitchIdx>& some : by_hops) some.clear();
    for (const SwitchIdx sw : paths.indices()) {
      paths[sw] = hosts[sw];
      if (walk.fate(sw) != Fate::Arrives) continue;
      if (by_hops.size() <= walk.hops(sw)) by_hops.resize(walk.hops(sw) + 1);
      by_hops[walk.hops(sw)].push_back(sw);
    }
    // Farthest first: when a switch's turn comes, everything that passes it has arrived there. The
    // destination itself never leaves the last switch, so it adds to no channel.
    for (std::size_t hops = by_hops.size(); hops-- > 1;) {
      for (const SwitchIdx sw : by_hops[hops]) {
        load[fabric.port_of(fabric.switch_node[sw], walk.exit(sw))] += paths[sw];
        paths[walk.next(sw)] += paths[sw];
      }
    }
  }

  LoadReport report;
  const std::vector<PortIdx> channels = find_channels(fabric);
  if (channels.empty()) return report;
  const auto count = static_cast<double>(channels.size());
  double sum = 0;
  for (const PortIdx channel : channels) {
    report.max = std::max(report.max, load[channel]);
    sum += static_cast<double>(load[channel]);
  }
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

// measure_load(): how evenly tables spread the paths between hosts.
#include <algorithm>
#include <cmath>

#include "smd/routing/channel_load.h"
#include "smd/routing/check.h"
#include "smd/routing/patterns.h"

namespace smd {

LoadReport measure_load(const Fabric& fabric, const LidMap& lids, const ForwardingTables& tables) {
  IndexVector<SwitchIdx, std::uint64_t> hosts(fabric.switch_count(), 0);
  for (const PortIdx port : fabric.peer.indices()) {
    if (!fabric.is_end_port(port) || fabric.is_switch(fabric.node_of[port])) continue;
    const SwitchIdx sw = fabric.switch_of[fabric.node_of[fabric.peer[port]]];
    if (sw != kNone<SwitchIdx>) ++hosts[sw];
  }
  ChannelLoad load(fabric, tables);
  for (const PortIdx destination : find_hosts(fabric, lids))
    load.add_tree(lids.base[destination], destination, hosts);

  LoadReport report;
  const std::vector<PortIdx> channels = find_channels(fabric);
  if (channels.empty()) return report;
  const auto count = static_cast<double>(channels.size());
  double sum = 0;
  for (const PortIdx channel : channels) {
    report.max = std::max(report.max, load.of(channel));
    sum += static_cast<double>(load.of(channel));
  }
  report.mean = sum / count;
  double squares = 0;
  for (const PortIdx channel : channels) {
    const double off = static_cast<double>(load.of(channel)) - report.mean;
    squares += off * off;
  }
  report.stddev = std::sqrt(squares / count);
  return report;
}

}  // namespace smd

#include "smd/routing/pattern_load.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "smd/routing/channel_load.h"

namespace smd {
namespace {

// A set with senders on more of the switches than one in so many is followed as a whole tree.
constexpr std::size_t kSparse = 8;

double rate(const Fabric& fabric, PortIdx port) {
  return static_cast<double>(lanes(active_width(fabric.port_info[port]))) *
         lane_mbps(link_speed(fabric, port));
}

// Packets from each switch to every host of one set.
struct Senders {
  std::map<SwitchIdx, std::uint64_t> by_switch;
  std::uint64_t all = 0;
};

class Measurer {
 public:
  Measurer(const Fabric& fabric,
           const LidMap& lids,
           const ForwardingTables& tables,
           std::span<const PortIdx> hosts,
           const TrafficPattern& pattern)
      : fabric_(fabric),
        lids_(lids),
        hosts_(hosts),
        pattern_(pattern),
        counted_(fabric, tables),
        packets_(fabric.switch_count(), 0),
        received_(hosts.size() + 1, 0.0),
        load_(fabric.port_count(), 0.0) {}

  PatternLoad run() {
    find_senders();
    // Sets of one size share their packets alike, so that whole numbers are added up among them.
    std::map<std::size_t, std::vector<std::size_t>> by_size;
    for (std::size_t set = 0; set < pattern_.sets.size(); ++set) {
      if (senders_[set].all != 0) by_size[pattern_.sets[set].size()].push_back(set);
    }
    for (const auto& [size, sets] : by_size) {
      counted_.clear();
      for (const std::size_t set : sets) send_to(set);
      for (const PortIdx channel : load_.indices())
        load_[channel] += static_cast<double>(counted_.of(channel)) / static_cast<double>(size);
    }
    sum_up();
    return report_;
  }

 private:
  void find_senders() {
    senders_.resize(pattern_.sets.size());
    for (HostNum host = 0; host < hosts_.size(); ++host) {
      const std::uint32_t set = pattern_.target[host];
      if (set == TrafficPattern::kSilent) continue;
      ++senders_[set].by_switch[switch_of(hosts_[host])];
      ++senders_[set].all;
    }
  }

  [[nodiscard]] SwitchIdx switch_of(PortIdx host) const {
    return fabric_.switch_of[fabric_.node_of[fabric_.peer[host]]];
  }

  void send_to(std::size_t set) {
    const Senders& senders = senders_[set];
    const std::size_t size = pattern_.sets[set].size();
    const bool dense = senders.by_switch.size() * kSparse > fabric_.switch_count();
    for (const auto& [sw, packets] : senders.by_switch) packets_[sw] = packets;
    for (const HostNum host : pattern_.sets[set]) {
      const PortIdx owner = hosts_[host];
      const Lid lid = lids_.base[owner];
      report_.flows += senders.all;
      received_[host] += static_cast<double>(senders.all) / static_cast<double>(size);
      if (dense) {
        report_.lost += counted_.add_tree(lid, owner, packets_);
        continue;
      }
      for (const auto& [sw, packets] : senders.by_switch) {
        path_.clear();
        if (!counted_.find_path(sw, lid, owner, path_)) report_.lost += packets;
        for (const PortIdx channel : path_) counted_.add(channel, packets);
      }
    }
    for (const auto& [sw, packets] : senders.by_switch) packets_[sw] = 0;
  }

  void sum_up() {
    report_.max_host = *std::ranges::max_element(received_);
    double host_rate = 0;
    for (const PortIdx host : hosts_) {
      if (const double own = rate(fabric_, host); own > 0 && (host_rate == 0 || own < host_rate))
        host_rate = own;
    }
    const std::vector<PortIdx> channels = find_channels(fabric_);
    double busiest = report_.max_host;
    for (const PortIdx channel : channels) {
      report_.max = std::max(report_.max, load_[channel]);
      report_.mean += load_[channel] / static_cast<double>(channels.size());
      const double own = rate(fabric_, channel);
      const double capacity = own > 0 && host_rate > 0 ? own / host_rate : 1;
      busiest = std::max(busiest, load_[channel] / capacity);
    }
    for (const PortIdx channel : channels) {
      const double off = load_[channel] - report_.mean;
      report_.stddev += off * off / static_cast<double>(channels.size());
    }
    report_.stddev = std::sqrt(report_.stddev);
    report_.throughput = busiest > 1 ? 1 / busiest : 1;
  }

  const Fabric& fabric_;
  const LidMap& lids_;
  std::span<const PortIdx> hosts_;
  const TrafficPattern& pattern_;
  ChannelLoad counted_;
  IndexVector<SwitchIdx, std::uint64_t> packets_;
  std::vector<Senders> senders_;  // by set
  std::vector<PortIdx> path_;
  std::vector<double> received_;  // by host, and one that gets nothing
  IndexVector<PortIdx, double> load_;
  PatternLoad report_;
};

}  // namespace

PatternLoad measure_pattern(const Fabric& fabric,
                            const LidMap& lids,
                            const ForwardingTables& tables,
                            std::span<const PortIdx> hosts,
                            const TrafficPattern& pattern) {
  return Measurer(fabric, lids, tables, hosts, pattern).run();
}

EffectiveBisection measure_effective_bisection(const Fabric& fabric,
                                               const LidMap& lids,
                                               const ForwardingTables& tables,
                                               std::span<const PortIdx> hosts,
                                               unsigned permutations,
                                               std::uint64_t seed) {
  const auto count = static_cast<HostNum>(hosts.size());
  const auto switch_of = [&](HostNum host) {
    return fabric.switch_of[fabric.node_of[fabric.peer[hosts[host]]]];
  };
  EffectiveBisection out;
  Rng rng(seed);
  ChannelLoad load(fabric, tables);
  double sum = 0;
  unsigned measured = 0;
  std::vector<PortIdx> channels;   // flow by flow
  std::vector<std::size_t> first;  // of each flow, and where the last one ends
  for (unsigned i = 0; i < permutations; ++i) {
    const std::vector<HostNum> to = random_permutation(count, rng);
    load.clear();
    channels.clear();
    first.assign(1, 0);
    for (HostNum host = 0; host < count; ++host) {
      if (to[host] == host) continue;
      const PortIdx owner = hosts[to[host]];
      if (load.find_path(switch_of(host), lids.base[owner], owner, channels)) {
        first.push_back(channels.size());
      } else {
        ++out.lost;
      }
    }
    const std::size_t flows = first.size() - 1;
    if (flows == 0) continue;
    for (const PortIdx channel : channels) load.add(channel, 1);
    double shares = 0;
    for (std::size_t flow = 0; flow < flows; ++flow) {
      std::uint64_t most = 1;
      for (std::size_t at = first[flow]; at < first[flow + 1]; ++at)
        most = std::max(most, load.of(channels[at]));
      shares += 1 / static_cast<double>(most);
    }
    const double mean = shares / static_cast<double>(flows);
    sum += mean;
    out.worst = std::min(out.worst, mean);
    ++measured;
  }
  if (measured != 0) out.mean = sum / measured;
  return out;
}

}  // namespace smd

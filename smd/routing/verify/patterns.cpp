#include "smd/routing/verify/patterns.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <map>
#include <numeric>

#include "smd/routing/verify/channel_load.h"
#include "smd/routing/verify/walk.h"

namespace smd {
namespace {

// A set with senders on more of the switches than one in so many is followed as a whole tree.
constexpr std::size_t kSparse = 8;

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
    return fabric_.switch_at(fabric_.peer[host]);
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
    const std::vector<PortIdx> channels = find_channels(fabric_);
    const IndexVector<PortIdx, double> capacity = find_capacities(fabric_, hosts_);
    double busiest = report_.max_host;
    for (const PortIdx channel : channels) {
      report_.max = std::max(report_.max, load_[channel]);
      report_.mean += load_[channel] / static_cast<double>(channels.size());
      busiest = std::max(busiest, load_[channel] / capacity[channel]);
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

std::vector<PortIdx> find_hosts(const Fabric& fabric, const LidMap& lids) {
  std::vector<PortIdx> hosts;
  for (const PortIdx port : fabric.peer.indices()) {
    if (!fabric.is_host(port)) continue;
    if (!fabric.is_switch(fabric.node_of[fabric.peer[port]])) continue;
    if (lids.base[port] != kUnassignedLid) hosts.push_back(port);
  }
  return hosts;
}

TrafficPattern uniform_pattern(HostNum hosts) {
  TrafficPattern pattern;
  pattern.target.assign(hosts, 0);
  pattern.sets.emplace_back(hosts);
  std::iota(pattern.sets[0].begin(), pattern.sets[0].end(), HostNum{0});
  return pattern;
}

TrafficPattern rail_pattern(const HostPorts& ports) {
  TrafficPattern pattern{.target = ports.rail, .sets = {}};
  pattern.sets.resize(ports.rails);
  for (HostNum host = 0; host < ports.rail.size(); ++host)
    pattern.sets[ports.rail[host]].push_back(host);
  return pattern;
}

TrafficPattern permutation_pattern(std::span<const HostNum> to) {
  TrafficPattern pattern;
  pattern.target.assign(to.size(), TrafficPattern::kSilent);
  for (HostNum host = 0; host < to.size(); ++host) {
    if (to[host] == host) continue;
    pattern.target[host] = static_cast<std::uint32_t>(pattern.sets.size());
    pattern.sets.push_back({to[host]});
  }
  return pattern;
}

std::vector<HostNum> shift(HostNum hosts, HostNum by) {
  std::vector<HostNum> to(hosts);
  for (HostNum host = 0; host < hosts; ++host)
    to[host] = static_cast<HostNum>((std::uint64_t{host} + by) % hosts);
  return to;
}

std::vector<HostNum> bit_reversal(HostNum hosts) {
  std::vector<HostNum> to(hosts);
  std::iota(to.begin(), to.end(), HostNum{0});
  if (hosts < 2) return to;
  const int bits = std::bit_width(hosts) - 1;
  for (HostNum host = 0; host < HostNum{1} << bits; ++host) {
    HostNum reversed = 0;
    for (int bit = 0; bit < bits; ++bit) reversed |= (host >> bit & 1u) << (bits - 1 - bit);
    to[host] = reversed;
  }
  return to;
}

std::vector<HostNum> transpose(HostNum hosts) {
  std::vector<HostNum> to(hosts);
  std::iota(to.begin(), to.end(), HostNum{0});
  HostNum side = 0;
  while (std::uint64_t{side + 1} * (side + 1) <= hosts) ++side;
  for (HostNum row = 0; row < side; ++row) {
    for (HostNum column = 0; column < side; ++column) to[row * side + column] = column * side + row;
  }
  return to;
}

std::vector<HostNum> random_permutation(HostNum hosts, Rng& rng) {
  std::vector<HostNum> to(hosts);
  std::iota(to.begin(), to.end(), HostNum{0});
  for (HostNum left = hosts; left > 1; --left) std::swap(to[left - 1], to[rng.below(left)]);
  return to;
}

TrafficPattern group_pattern(const std::vector<std::vector<HostNum>>& groups,
                             std::span<const std::uint32_t> next,
                             HostNum hosts) {
  TrafficPattern pattern{.target = std::vector(hosts, TrafficPattern::kSilent), .sets = groups};
  for (std::size_t group = 0; group < groups.size(); ++group) {
    for (const HostNum host : groups[group]) pattern.target[host] = next[group];
  }
  return pattern;
}

std::vector<std::vector<HostNum>> group_by_switch(const Fabric& fabric,
                                                  std::span<const PortIdx> hosts) {
  IndexVector<SwitchIdx, std::vector<HostNum>> at(fabric.switch_count());
  for (HostNum host = 0; host < hosts.size(); ++host)
    at[fabric.switch_at(fabric.peer[hosts[host]])].push_back(host);
  std::vector<std::vector<HostNum>> groups;
  std::ranges::copy_if(
      at, std::back_inserter(groups), [](const auto& all) { return !all.empty(); });
  return groups;
}

std::vector<std::uint32_t> next_group(std::uint32_t groups) { return shift(groups, 1); }

std::vector<std::uint32_t> next_diagonally(std::span<const std::uint32_t> dims) {
  std::uint32_t size = 1;
  for (const std::uint32_t dim : dims) size *= dim;
  std::vector<std::uint32_t> next(size, 0);
  for (std::uint32_t group = 0; group < size; ++group) {
    std::uint32_t stride = 1;
    for (std::size_t d = dims.size(); d-- > 0;) {
      next[group] += (group / stride + 1) % dims[d] * stride;
      stride *= dims[d];
    }
  }
  return next;
}

FullRate find_full_rate(const Fabric& fabric, std::span<const PortIdx> hosts) {
  std::map<std::uint64_t, std::size_t> having;
  std::size_t known = 0, most = 0;
  for (const PortIdx host : hosts) {
    const std::uint64_t own = link_mbps(fabric, host);
    if (own == 0) continue;
    ++having[own];
    ++known;
  }
  FullRate out;
  for (const auto& [mbps, count] : having) {
    if (count < most) continue;
    most = count;
    out = {.mbps = mbps, .others = known - count};
  }
  return out;
}

IndexVector<PortIdx, double> find_capacities(const Fabric& fabric, std::span<const PortIdx> hosts) {
  const std::uint64_t full = find_full_rate(fabric, hosts).mbps;
  IndexVector<PortIdx, double> out(fabric.port_count(), 1.0);
  for (const PortIdx channel : find_channels(fabric)) {
    const std::uint64_t own = link_mbps(fabric, channel);
    if (own > 0 && full > 0) out[channel] = static_cast<double>(own) / static_cast<double>(full);
  }
  return out;
}

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
  const auto switch_of = [&](HostNum host) { return fabric.switch_at(fabric.peer[hosts[host]]); };
  EffectiveBisection out;
  Rng rng(seed);
  ChannelLoad load(fabric, tables);
  const IndexVector<PortIdx, double> capacity = find_capacities(fabric, hosts);
  double sum = 0;
  unsigned measured = 0;
  std::vector<PortIdx> channels;   // flow by flow
  std::vector<std::size_t> first;  // of each flow, and where the last one ends
  for (unsigned i = 0; i < permutations; ++i) {
    const std::vector<HostNum> to = random_permutation(count, rng);
    load.clear();
    channels.clear();
    first.assign(1, 0);
    const std::uint64_t lost_before = out.lost;
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
    const std::uint64_t all = flows + (out.lost - lost_before);
    if (all == 0) continue;
    for (const PortIdx channel : channels) load.add(channel, 1);
    double shares = 0;
    for (std::size_t flow = 0; flow < flows; ++flow) {
      double most = 1;
      for (std::size_t at = first[flow]; at < first[flow + 1]; ++at) {
        most = std::max(most, static_cast<double>(load.of(channels[at])) / capacity[channels[at]]);
      }
      shares += 1 / most;
    }
    // What is lost gets nothing: else the less arrived, the more it would seem to get.
    const double mean = shares / static_cast<double>(all);
    sum += mean;
    out.worst = std::min(out.worst, mean);
    ++measured;
  }
  if (measured != 0) out.mean = sum / measured;
  return out;
}

namespace {

class PathSetMeasurer {
 public:
  PathSetMeasurer(const Fabric& fabric, const LidMap& lids, const ForwardingTables& tables)
      : fabric_(fabric), lids_(lids), tables_(tables), walk_(fabric, tables) {
    for (const SwitchIdx sw : fabric.switch_node.indices()) {
      for (const PortIdx port : fabric.external_ports(fabric.switch_node[sw])) {
        const PortIdx peer = fabric.peer[port];
        if (peer == kNone<PortIdx> || !fabric.is_host(peer)) continue;
        sources_.push_back(sw);
        break;
      }
    }
  }

  PathSetReport run() {
    count_unused();
    for (std::size_t value = 0; value < lids_.owner.size();) {
      const PortIdx owner = lids_.owner[value];
      std::size_t end = value + 1;
      while (owner != kNone<PortIdx> && end < lids_.owner.size() && lids_.owner[end] == owner)
        ++end;
      if (end - value > 1 && (is_switch(owner) || fabric_.is_host(owner)))
        compare(value, end, owner);
      value = end;
    }
    return report_;
  }

 private:
  void count_unused() {
    for (std::uint32_t sw = 0; sw < std::min(fabric_.switch_count(), tables_.switches()); ++sw) {
      const auto row = tables_.row(SwitchIdx{sw});
      for (std::size_t lid = 1; lid < row.size(); ++lid) {
        const bool owned = lid < lids_.owner.size() && lids_.owner[lid] != kNone<PortIdx>;
        if (!owned && row[lid] != kNoRoute) ++report_.unused_entries;
      }
    }
  }

  [[nodiscard]] bool is_switch(PortIdx port) const {
    return fabric_.is_switch(fabric_.node_of[port]);
  }

  // Two paths are the same when they leave every switch on them by the same port.
  void compare(std::size_t first, std::size_t end, PortIdx owner) {
    std::vector<std::vector<std::uint64_t>> paths(sources_.size());
    for (std::size_t value = first; value < end; ++value) {
      walk_.follow(Lid{static_cast<std::uint16_t>(value)}, owner);
      for (std::size_t i = 0; i < sources_.size(); ++i) {
        // Hosts of one switch have no path to choose.
        if (walk_.result(sources_[i]) != PathResult::Arrives || walk_.hops(sources_[i]) == 0)
          continue;
        ++report_.paths;
        paths[i].push_back(name_path(sources_[i]));
      }
    }
    for (std::vector<std::uint64_t>& names : paths) {
      std::ranges::sort(names);
      const auto again = std::ranges::unique(names);
      report_.duplicate_paths += again.size();
    }
  }

  // A number that differs where paths do, but for one case in 2^64.
  std::uint64_t name_path(SwitchIdx sw) const {
    std::uint64_t name = 0;
    for (; sw != kNone<SwitchIdx>; sw = walk_.next(sw)) {
      const PortIdx egress = fabric_.port_of(fabric_.switch_node[sw], walk_.egress(sw));
      name = (name ^ egress.value()) * 0x9e3779b97f4a7c15u;
      name ^= name >> 32;
    }
    return name;
  }

  const Fabric& fabric_;
  const LidMap& lids_;
  const ForwardingTables& tables_;
  Walk walk_;
  std::vector<SwitchIdx> sources_;
  PathSetReport report_;
};

}  // namespace

PathSetReport measure_path_sets(const Fabric& fabric,
                                const LidMap& lids,
                                const ForwardingTables& tables) {
  return PathSetMeasurer(fabric, lids, tables).run();
}

}  // namespace smd

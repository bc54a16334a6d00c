#include "smd/routing/patterns.h"

#include <algorithm>
#include <bit>
#include <numeric>

namespace smd {

std::vector<PortIdx> find_hosts(const Fabric& fabric, const LidMap& lids) {
  std::vector<PortIdx> hosts;
  for (const PortIdx port : fabric.peer.indices()) {
    if (!fabric.is_end_port(port) || fabric.is_switch(fabric.node_of[port])) continue;
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
    at[fabric.switch_of[fabric.node_of[fabric.peer[hosts[host]]]]].push_back(host);
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

}  // namespace smd

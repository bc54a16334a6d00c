#include "smd/routing/traffic.h"

#include <algorithm>

namespace smd {
namespace {

constexpr std::uint32_t kFastest = 16;
constexpr std::uint32_t kHeaviest = 0xffff;  // keeps loads of the largest subnet within 56 bits

std::uint32_t measure_capacity(const Fabric& fabric, PortIdx port) {
  return lanes(active_width(fabric.port_info[port])) * lane_mbps(link_speed(fabric, port));
}

}  // namespace

void apply_weights(const Fabric& fabric,
                   std::span<const std::pair<Guid, std::uint32_t>> weights,
                   Targets& targets) {
  if (weights.empty()) return;
  const auto find = [&](Guid guid) -> std::uint32_t {
    const auto at =
        std::ranges::lower_bound(weights, guid, {}, &std::pair<Guid, std::uint32_t>::first);
    return at != weights.end() && at->first == guid ? std::min(at->second, kHeaviest) : 1;
  };
  for (const SwitchIdx sw : targets.of.indices()) {
    const NodeIdx node = fabric.switch_node[sw];
    for (Target& target : targets.of[sw]) {
      const PortIdx port = fabric.port_of(node, target.exit);
      target.draws = find(fabric.port_guid[target.host ? fabric.peer[port] : port]);
      if (target.host && target.draws == 0) --targets.hosts[sw];
    }
  }
}

std::vector<std::uint32_t> find_link_costs(const Fabric& fabric, const SwitchGraph& graph) {
  std::vector<std::uint32_t> capacity;
  capacity.reserve(graph.edge_count());
  std::uint32_t slowest = kUnreached, fastest = 0;
  for (const SwitchIdx sw : fabric.switch_node.indices()) {
    for (const SwitchEdge& edge : graph.edges(sw)) {
      capacity.push_back(
          measure_capacity(fabric, fabric.port_of(fabric.switch_node[sw], edge.port)));
      if (capacity.back() == 0) continue;
      slowest = std::min(slowest, capacity.back());
      fastest = std::max(fastest, capacity.back());
    }
  }
  const bool even = slowest >= fastest;
  for (std::uint32_t& entry : capacity) {
    if (even) {
      entry = 1;
    } else {
      entry =
          entry == 0
              ? kFastest
              : static_cast<std::uint32_t>((std::uint64_t{kFastest} * fastest + entry / 2) / entry);
    }
  }
  return capacity;
}

}  // namespace smd

#include "smd/routing/graph/switch_graph.h"

#include <algorithm>
#include <iterator>

namespace smd {
namespace {

constexpr std::uint32_t kFastest = 16;

std::uint32_t measure_capacity(const Fabric& fabric, PortIdx port) {
  return lanes(active_width(fabric.port_info[port])) * lane_mbps(link_speed(fabric, port));
}

}  // namespace

SwitchGraph::SwitchGraph(const Fabric& fabric) {
  first_edge_.reserve(fabric.switch_count() + 1);
  for (const NodeIdx node : fabric.switch_node) {
    first_edge_.push_back(static_cast<std::uint32_t>(edges_.size()));
    for (const PortIdx port : fabric.external_ports(node)) {
      const PortIdx peer = fabric.peer[port];
      if (peer == kNone<PortIdx>) continue;
      const NodeIdx neighbour = fabric.node_of[peer];
      if (neighbour == node || !fabric.is_switch(neighbour)) continue;
      edges_.push_back({.to = fabric.switch_of[neighbour],
                        .port = fabric.number_of(port),
                        .peer_port = fabric.number_of(peer)});
    }
  }
  first_edge_.push_back(static_cast<std::uint32_t>(edges_.size()));
}

SwitchGraph SwitchGraph::without_parallels() const {
  SwitchGraph simple;
  IndexVector<SwitchIdx, SwitchIdx> seen_from(switches(), kNone<SwitchIdx>);
  for (const SwitchIdx sw : seen_from.indices()) {
    simple.first_edge_.push_back(static_cast<std::uint32_t>(simple.edges_.size()));
    for (const SwitchEdge& edge : edges(sw)) {
      if (seen_from[edge.to] == sw) continue;
      seen_from[edge.to] = sw;
      simple.edges_.push_back(edge);
    }
  }
  simple.first_edge_.push_back(static_cast<std::uint32_t>(simple.edges_.size()));
  return simple;
}

Targets find_targets(const Fabric& fabric, const LidMap& lids) {
  Targets targets;
  targets.of.resize(fabric.switch_count());
  targets.hosts.resize(fabric.switch_count());
  for (const SwitchIdx sw : fabric.switch_node.indices()) {
    for (const PortIdx port : fabric.ports_of(fabric.switch_node[sw])) {
      const bool zero = fabric.number_of(port) == PortNum{0};
      const PortIdx end = zero ? port : fabric.peer[port];
      if (end == kNone<PortIdx> || (!zero && fabric.is_switch(fabric.node_of[end]))) continue;
      const std::uint32_t demand = fabric.demand_of(end);
      if (!zero && demand != 0) ++targets.hosts[sw];
      if (lids.base[end] == kUnassignedLid) continue;
      targets.of[sw].push_back({.base = lids.base[end],
                                .lmc = lids.lmc[end],
                                .egress = fabric.number_of(port),
                                .host = !zero,
                                .demand = demand});
    }
  }
  return targets;
}

IndexVector<SwitchIdx, Guid> list_switch_guids(const Fabric& fabric) {
  IndexVector<SwitchIdx, Guid> guids;
  guids.reserve(fabric.switch_count());
  for (const NodeIdx node : fabric.switch_node) guids.push_back(fabric.node_guid[node]);
  return guids;
}

IndexVector<SwitchIdx, std::uint32_t> compute_distances(const SwitchGraph& graph,
                                                        std::span<const SwitchIdx> from) {
  IndexVector<SwitchIdx, std::uint32_t> distance(graph.switches(), kUnreached);
  std::vector<SwitchIdx> queue;
  queue.reserve(graph.switches());
  for (const SwitchIdx sw : from) {
    if (distance[sw] == 0) continue;
    distance[sw] = 0;
    queue.push_back(sw);
  }
  for (std::size_t at = 0; at < queue.size(); ++at) {
    for (const SwitchEdge& edge : graph.edges(queue[at])) {
      if (distance[edge.to] != kUnreached) continue;
      distance[edge.to] = distance[queue[at]] + 1;
      queue.push_back(edge.to);
    }
  }
  return distance;
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

void ShortestSearch::find(SwitchIdx destination, NextHops& hops) {
  // Every switch and link is written where the next one belongs, and stays if it is one: most are
  // looked at in vain, and which cannot be foreseen.
  distance_.assign(graph_.switches(), kUnreached);
  near_to_far_.resize(graph_.switches() + 1);
  SwitchIdx* const queue = near_to_far_.data();
  std::size_t reached = 1;
  queue[0] = destination;
  distance_[destination] = 0;
  for (std::size_t at = 0; at < reached; ++at) {
    const std::uint32_t onward = distance_[queue[at]] + 1;
    for (const SwitchEdge& edge : graph_.edges(queue[at])) {
      std::uint32_t& distance = distance_[edge.to];
      queue[reached] = edge.to;
      reached += distance == kUnreached;
      distance = std::min(distance, onward);
    }
  }
  const std::size_t others = reached - 1;
  hops.order.assign(std::make_reverse_iterator(queue + reached),
                    std::make_reverse_iterator(queue + 1));
  hops.first.resize(others + 1);
  hops.edges.resize(graph_.edge_count() + 1);
  std::uint32_t* const edges = hops.edges.data();
  std::uint32_t count = 0;
  hops.first[0] = 0;
  for (std::size_t i = 0; i < others; ++i) {
    const SwitchIdx sw = hops.order[i];
    const std::uint32_t wanted = distance_[sw] - 1;
    std::uint32_t position = graph_.first_edge(sw);
    for (const SwitchEdge& edge : graph_.edges(sw)) {
      edges[count] = position++;
      count += distance_[edge.to] == wanted;
    }
    hops.first[i + 1] = count;
  }
  hops.edges.resize(count);
}

}  // namespace smd

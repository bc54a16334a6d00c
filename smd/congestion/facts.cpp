#include "smd/congestion/facts.h"

#include <algorithm>
#include <set>

#include "smd/routing/fat_tree/shape.h"
#include "smd/routing/graph/switch_graph.h"

namespace smd::cc {
namespace {

bool is_host(const Fabric& fabric, PortIdx port) {
  const NodeIdx node = fabric.node_of[port];
  return fabric.node_info[node].node_type == static_cast<std::uint8_t>(NodeType::Ca) &&
         fabric.is_host(port);
}

unsigned mtu_of(const Fabric& fabric, PortIdx port) {
  const auto own = fabric.port_info[port].mtu_cap;
  const auto peer = fabric.port_info[fabric.peer[port]].mtu_cap;
  return mtu_bytes(static_cast<Mtu>(std::min(own, peer)));
}

/// Switches on the longest of the shortest ways between hosts.
unsigned longest_route(const Fabric& fabric, const IndexVector<SwitchIdx, unsigned>& served) {
  const SwitchGraph graph(fabric);
  unsigned links = 0;
  for (const SwitchIdx from : served.indices()) {
    if (served[from] == 0) continue;
    const auto distance = compute_distances(graph, std::span(&from, 1));
    for (const SwitchIdx to : served.indices()) {
      if (served[to] != 0 && distance[to] != kUnreached) links = std::max(links, distance[to]);
    }
  }
  return links + 1;
}

}  // namespace

unsigned link_mbps(const Fabric& fabric, PortIdx port) {
  const auto width = static_cast<LinkWidth>(fabric.port_info[port].link_width_active);
  return lanes(width) * lane_mbps(link_speed(fabric, port));
}

Facts read_facts(const Fabric& fabric, const FactsRequest& request) {
  Facts facts;
  facts.switches = fabric.switch_count();
  facts.systems = count_hosts(fabric);
  IndexVector<SwitchIdx, unsigned> served(fabric.switch_count(), 0);
  std::set<unsigned> rates;
  unsigned mtu = 0;
  for (const PortIdx port : fabric.peer.indices()) {
    if (!is_host(fabric, port)) continue;
    ++facts.hosts;
    const SwitchIdx leaf = fabric.switch_at(fabric.peer[port]);
    if (leaf != kNone<SwitchIdx>) ++served[leaf];
    if (const unsigned rate = link_mbps(fabric, port); rate != 0) rates.insert(rate);
    mtu = std::max(mtu, mtu_of(fabric, port));
  }
  facts.mbps.assign(rates.begin(), rates.end());
  facts.mtu = std::clamp(mtu, 256u, std::max(request.mtu_max, 256u));
  for (const SwitchIdx sw : served.indices()) facts.radix = std::max(facts.radix, served[sw]);
  if (facts.switches == 0) {
    facts.shape = "no switch";
    return facts;
  }
  if (const auto tree = recognise_fat_tree(fabric)) {
    facts.is_tree = true;
    facts.shape = print_fat_tree(*tree);
    facts.stages = static_cast<unsigned>(tree->levels.size());
    facts.path = 2 * facts.stages - 1;
    return facts;
  } else {
    facts.shape = tree.error().context;
  }
  facts.path = request.longest_route.value_or(0);
  if (facts.path == 0) facts.path = longest_route(fabric, served);
  facts.stages = (facts.path + 2) / 2;
  return facts;
}

}  // namespace smd::cc

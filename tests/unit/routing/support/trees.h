// Generated trees in tests, whole and damaged.
#pragma once

#include <set>
#include <string>
#include <utility>
#include <vector>

#include "sim-backend/topology/fabric_spec.h"
#include "sim-backend/topology/snapshot.h"
#include "smd/base/rng.h"
#include "smd/fabric/builder.h"
#include "tests/unit/routing/support/paths.h"

namespace smd::test {

inline Fabric generated_fabric(const std::string& spec) {
  return *sim::build_snapshot(sim::load_fabric(spec).value());
}

/// The same without the cables at these ports. Nodes stay, also those without cables.
inline Fabric without_cables(Fabric fabric, const std::vector<PortIdx>& cut) {
  for (const PortIdx port : cut) {
    if (fabric.peer[port] == kNone<PortIdx>) continue;
    fabric.peer[fabric.peer[port]] = kNone<PortIdx>;
    fabric.peer[port] = kNone<PortIdx>;
  }
  return fabric;
}

/// The same without some nodes, as it would be discovered: handles of what comes later move up.
inline Fabric without_nodes(const Fabric& fabric, const std::set<NodeIdx>& gone) {
  FabricBuilder builder;
  IndexVector<NodeIdx, NodeIdx> moved(fabric.node_count(), kNone<NodeIdx>);
  for (const NodeIdx n : fabric.node_guid.indices()) {
    if (gone.contains(n)) continue;
    moved[n] = builder.add_node(fabric.node_info[n]);
    builder.set_description(moved[n], fabric.description[n]);
  }
  for (const PortIdx port : fabric.peer.indices()) {
    const PortIdx peer = fabric.peer[port];
    if (peer == kNone<PortIdx> || peer < port) continue;
    const NodeIdx a = moved[fabric.node_of[port]], b = moved[fabric.node_of[peer]];
    if (a != kNone<NodeIdx> && b != kNone<NodeIdx>)
      builder.add_link(a, fabric.number_of(port), b, fabric.number_of(peer));
  }
  for (const NodeIdx sw : fabric.switch_node) {
    if (moved[sw] == kNone<NodeIdx>) continue;
    builder.set_sm_port(moved[sw], PortNum{0});
    break;
  }
  return *builder.build(Epoch{2});
}

/// LIDs as they were, by GUID and port.
inline LidMap same_lids(const Fabric& before, const LidMap& lids, const Fabric& now) {
  LidMap map = make_lid_map(now);
  for (const PortIdx port : before.peer.indices()) {
    if (lids.base[port] == kUnassignedLid) continue;
    const auto n = now.find_node(before.node_guid[before.node_of[port]]);
    if (!n) continue;
    const PortIdx there = now.port_of(*n, before.number_of(port));
    if (now.is_end_port(there)) set_lid(map, there, lids.base[port], lids.lmc[port]);
  }
  return map;
}

/// Ports of switches cabled to other switches, each cable once.
inline std::vector<PortIdx> list_cables(const Fabric& fabric) {
  std::vector<PortIdx> cables;
  for (const PortIdx port : fabric.peer.indices()) {
    const PortIdx peer = fabric.peer[port];
    if (peer == kNone<PortIdx> || peer < port || !fabric.is_switch(fabric.node_of[port]) ||
        !fabric.is_switch(fabric.node_of[peer]))
      continue;
    cables.push_back(port);
  }
  return cables;
}

inline std::vector<PortIdx> draw_cables(const Fabric& fabric, std::size_t count, Rng& rng) {
  std::vector<PortIdx> all = list_cables(fabric), drawn;
  for (; count > 0 && !all.empty(); --count) {
    const std::size_t at = rng.below(all.size());
    drawn.push_back(all[at]);
    all.erase(all.begin() + static_cast<std::ptrdiff_t>(at));
  }
  return drawn;
}

/// The cable between two switches, as a port of the first.
inline PortIdx cable(const Fabric& fabric, std::string_view a, std::string_view b) {
  for (const PortIdx port : fabric.external_ports(node(fabric, a))) {
    const PortIdx peer = fabric.peer[port];
    if (peer != kNone<PortIdx> && fabric.node_of[peer] == node(fabric, b)) return port;
  }
  return kNone<PortIdx>;
}

/// End ports of adapters, in node order: generators hang hosts leaf by leaf.
inline std::vector<PortIdx> list_hosts(const Fabric& fabric) {
  std::vector<PortIdx> hosts;
  for (const PortIdx port : fabric.peer.indices()) {
    if (fabric.is_end_port(port) && !fabric.is_switch(fabric.node_of[port])) hosts.push_back(port);
  }
  return hosts;
}

/// Ports by which a packet from an end port leaves switches, the last one leading to the host;
/// empty when it does not arrive.
inline std::vector<PortIdx> walk(const Fabric& fabric,
                                 const LidMap& lids,
                                 const ForwardingTables& tables,
                                 PortIdx from,
                                 PortIdx to) {
  std::vector<PortIdx> exits;
  NodeIdx at = fabric.node_of[from];
  if (!fabric.is_switch(at)) at = fabric.node_of[fabric.peer[from]];
  while (exits.size() <= fabric.switch_count()) {
    const PortNum egress = tables.route(fabric.switch_of[at], lids.base[to]);
    if (egress.value() > fabric.num_ports(at)) return {};
    const PortIdx port = fabric.port_of(at, egress);
    if (port == to) return exits;
    if (fabric.peer[port] == kNone<PortIdx>) return {};
    exits.push_back(port);
    if (fabric.peer[port] == to) return exits;
    at = fabric.node_of[fabric.peer[port]];
    if (!fabric.is_switch(at)) return {};
  }
  return {};
}

}  // namespace smd::test

#include "smd/fabric/fabric.h"

#include <fmt/format.h>
#include <algorithm>

#include "smd/base/text.h"

namespace smd {
namespace {

std::string check_nodes(const Fabric& f) {
  const std::size_t nodes = f.node_count();
  if (f.first_port.size() != nodes + 1 && !(nodes == 0 && f.first_port.empty()))
    return fmt::format("first_port has {} entries for {} nodes", f.first_port.size(), nodes);
  if (f.switch_of.size() != nodes || f.node_info.size() != nodes || f.description.size() != nodes)
    return "arrays per node differ in length";
  if (nodes == 0) return f.port_count() == 0 ? "" : "ports without nodes";
  if (f.first_port[NodeIdx{0}] != 0) return "first_port does not start at 0";
  for (const NodeIdx node : f.node_guid.indices()) {
    if (f.first_port[next(node)] <= f.first_port[node])
      return fmt::format("node {} has no port 0", node);
    if (f.num_ports(node) != f.node_info[node].num_ports)
      return fmt::format("node {} has {} ports, its NodeInfo says {}",
                         node,
                         f.num_ports(node),
                         f.node_info[node].num_ports);
    if (f.node_guid[node] != f.node_info[node].node_guid)
      return fmt::format("node {} is {} here and {} in its NodeInfo",
                         node,
                         f.node_guid[node],
                         f.node_info[node].node_guid);
  }
  return "";
}

std::string check_guids(const Fabric& f) {
  for (const NodeIdx node : f.node_guid.indices()) {
    const std::optional<NodeIdx> found = f.find_node(f.node_guid[node]);
    if (!found) return fmt::format("{} cannot be looked up", f.node_guid[node]);
    if (*found != node)
      return fmt::format("{} is node {} and node {}", f.node_guid[node], *found, node);
  }
  if (f.node_by_guid->size() != f.node_count()) return "node_by_guid knows a node that is not here";
  return "";
}

std::string check_switches(const Fabric& f) {
  if (f.switch_info.size() != f.switch_count()) return "arrays per switch differ in length";
  SwitchIdx expected{0};
  for (const NodeIdx node : f.node_guid.indices()) {
    if (f.is_switch(node) != f.node_info[node].is_switch())
      return fmt::format("node {} is a switch in only one of switch_of and NodeInfo", node);
    if (!f.is_switch(node)) continue;
    if (f.switch_of[node] != expected || expected.value() >= f.switch_count() ||
        f.switch_node[expected] != node)
      return fmt::format("switch numbers do not follow node order at node {}", node);
    expected = next(expected);
  }
  if (expected.value() != f.switch_count()) return "switch_node names a node that is no switch";
  return "";
}

std::string check_ports(const Fabric& f) {
  const std::size_t ports = f.port_count();
  if (f.node_of.size() != ports || f.port_guid.size() != ports || f.port_info.size() != ports)
    return "arrays per port differ in length";
  if (f.first_port[NodeIdx{static_cast<std::uint32_t>(f.node_count())}] != ports)
    return "first_port does not end at the last port";
  for (const NodeIdx node : f.node_guid.indices()) {
    for (const PortIdx port : f.ports_of(node)) {
      if (f.node_of[port] != node) return fmt::format("port {} is not of node {}", port, node);
    }
  }
  return "";
}

std::string check_links(const Fabric& f) {
  for (const PortIdx port : f.peer.indices()) {
    const PortIdx peer = f.peer[port];
    if (peer == kNone<PortIdx>) continue;
    if (peer.value() >= f.port_count())
      return fmt::format("{} leads to port {}, which does not exist", print_port(f, port), peer);
    if (f.peer[peer] != port)
      return fmt::format("{} leads to {}, but not back", print_port(f, port), print_port(f, peer));
    if (f.number_of(port) == PortNum{0})
      return fmt::format("{} has a cable; port 0 is never connected", print_port(f, port));
  }
  return "";
}

std::string check_switch_guids(const Fabric& f) {
  for (const NodeIdx node : f.switch_node) {
    for (const PortIdx port : f.ports_of(node)) {
      if (f.port_guid[port] != f.port_guid[f.port_of(node, PortNum{0})])
        return fmt::format("{} has a port GUID of its own on a switch", print_port(f, port));
    }
  }
  return "";
}

std::string check_manager(const Fabric& f) {
  if (f.sm_node == kNone<NodeIdx>)
    return f.sm_port == kNone<PortIdx> ? "" : "the manager has a port but no node";
  if (f.sm_node.value() >= f.node_count()) return "the manager's node does not exist";
  if (f.sm_port.value() >= f.port_count() || f.node_of[f.sm_port] != f.sm_node)
    return "the manager's port is not of its node";
  if (f.is_switch(f.sm_node) != (f.number_of(f.sm_port) == PortNum{0}))
    return "the manager's port is port 0 of a switch, or another port of anything else";
  return "";
}

}  // namespace

std::optional<NodeIdx> Fabric::find_node(Guid guid) const {
  const auto found = node_by_guid->find(guid);
  if (found == node_by_guid->end()) return std::nullopt;
  return found->second;
}

bool Fabric::is_end_port(PortIdx port) const {
  const bool zero = number_of(port) == PortNum{0};
  if (is_switch(node_of[port])) return zero;
  // A link from a port to itself leads nowhere, so it makes no end of a path.
  return !zero && peer[port] != kNone<PortIdx> && peer[port] != port;
}

std::size_t Fabric::link_count() const {
  std::size_t count = 0;
  for (const PortIdx port : peer.indices()) {
    if (peer[port] != kNone<PortIdx> && port < peer[port]) ++count;
  }
  return count;
}

std::string print_port(const Fabric& fabric, PortIdx port) {
  if (port == kNone<PortIdx>) return "no port";
  const NodeIdx node = fabric.node_of[port];
  const unsigned number = fabric.number_of(port).value();
  const std::string& name = fabric.description[node];
  return name.empty() ? fmt::format("{}:{}", fabric.node_guid[node], number)
                      : fmt::format("{}:{}", printable(name), number);
}

LinkSpeed link_speed(const Fabric& fabric, PortIdx port) {
  if (std::ranges::binary_search(fabric.fdr10, port)) return LinkSpeed::Fdr10;
  return active_speed(fabric.port_info[port]);
}

// What check_invariants() demands, one group of arrays after the other; later groups may index by
// what earlier ones have proved.

std::string check_invariants(const Fabric& fabric) {
  for (const auto check : {check_nodes,
                           check_ports,
                           check_guids,
                           check_switches,
                           check_links,
                           check_switch_guids,
                           check_manager}) {
    if (std::string fault = check(fabric); !fault.empty()) return fault;
    if (fabric.node_count() == 0) break;
  }
  return "";
}

}  // namespace smd

#include "sim-backend/topology/fabric_spec.h"

#include <fmt/core.h>

#include <algorithm>
#include <utility>

#include "sim-backend/topology/limits.h"
#include "smd/base/check.h"

namespace smd::sim {
namespace {

std::string at(const FabricSpec& spec, std::size_t node, std::size_t port) {
  return fmt::format("{}[{}]", spec.nodes[node].description, port);
}

std::string check_node(const NodeSpec& node) {
  if (node.ports.size() < 2 || node.num_ports() > kMaxPorts) {
    return fmt::format("{} has {} ports: a node has 1 to {}",
                       node.description,
                       node.ports.empty() ? 0 : node.num_ports(),
                       kMaxPorts);
  }
  if (const std::string_view why = check_id(node.id); !why.empty()) {
    return fmt::format("node id \"{}\": {}", node.id, why);
  }
  if (const std::string_view why = check_description(node.description); !why.empty()) {
    return fmt::format("description of {}: {}", node.id, why);
  }
  if (node.guid.value() == 0) return fmt::format("{} has GUID 0", node.description);
  if (node.ports[0].peer_node != kNoNode) {
    return fmt::format("port 0 of {} has a cable: port 0 is inside the node", node.description);
  }
  return {};
}

std::string check_cable(const FabricSpec& spec, std::size_t n, std::size_t p) {
  const PortSpec& port = spec.nodes[n].ports[p];
  if (port.peer_node == kNoNode) return {};
  if (port.peer_node >= spec.nodes.size() ||
      port.peer_port.value() >= spec.nodes[port.peer_node].ports.size() ||
      port.peer_port.value() == 0) {
    return fmt::format("{} leads to a port that does not exist", at(spec, n, p));
  }
  if (port.peer_node == n && port.peer_port.value() == p) {
    return fmt::format("{} is cabled to itself", at(spec, n, p));
  }
  const PortSpec& peer = spec.nodes[port.peer_node].ports[port.peer_port.value()];
  const std::string other = at(spec, port.peer_node, port.peer_port.value());
  if (peer.peer_node != n || peer.peer_port.value() != p) {
    return fmt::format("{} leads to {}, which does not lead back", at(spec, n, p), other);
  }
  if (peer.width != port.width || peer.speed != port.speed) {
    return fmt::format("{} and {} are one cable but differ in rate", at(spec, n, p), other);
  }
  if (port.width == LinkWidth::None || port.speed == LinkSpeed::None) {
    return fmt::format("{} has no rate", at(spec, n, p));
  }
  return {};
}

template <class T>
bool has_duplicate(std::vector<T>& values) {
  std::ranges::sort(values);
  return std::ranges::adjacent_find(values) != values.end();
}

std::string check_identities(const FabricSpec& spec) {
  std::vector<std::string_view> ids;
  std::vector<Guid> node_guids;
  std::vector<Guid> port_guids;
  std::size_t lids = 0;
  for (const NodeSpec& node : spec.nodes) {
    ids.push_back(node.id);
    node_guids.push_back(node.guid);
    if (node.type == NodeType::Switch) {
      port_guids.push_back(node.guid);
      ++lids;
      continue;
    }
    for (std::size_t p = 1; p < node.ports.size(); ++p) {
      port_guids.push_back(node.ports[p].guid);
      if (node.ports[p].peer_node != kNoNode) ++lids;
    }
  }
  if (has_duplicate(ids)) return "two nodes share one id";
  if (has_duplicate(node_guids)) return "two nodes share one GUID";
  if (has_duplicate(port_guids)) return "two ports share one GUID";
  if (lids > kMaxLids) {
    return fmt::format("{} LIDs are needed: a subnet has {}", lids, kMaxLids);
  }
  return {};
}

std::string check_sm(const FabricSpec& spec) {
  if (spec.sm_node >= spec.nodes.size()) return "the SM's node does not exist";
  const NodeSpec& node = spec.nodes[spec.sm_node];
  const bool at_port0 = spec.sm_port.value() == 0;
  if (at_port0 != (node.type == NodeType::Switch) || spec.sm_port.value() >= node.ports.size()) {
    return fmt::format("the SM cannot sit on port {} of {}: a switch has port 0, an adapter 1 to n",
                       spec.sm_port.value(),
                       node.description);
  }
  return {};
}

}  // namespace

void connect(FabricSpec& spec,
             std::uint32_t a,
             PortNum port_a,
             std::uint32_t b,
             PortNum port_b,
             LinkWidth width,
             LinkSpeed speed) {
  SMD_CHECK(a < spec.nodes.size() && b < spec.nodes.size(), "cable to a node that does not exist");
  SMD_CHECK(port_a.value() != 0 && port_a.value() < spec.nodes[a].ports.size(), "no such port");
  SMD_CHECK(port_b.value() != 0 && port_b.value() < spec.nodes[b].ports.size(), "no such port");
  SMD_CHECK(a != b || port_a != port_b, "cable to itself");
  PortSpec& end_a = spec.nodes[a].ports[port_a.value()];
  PortSpec& end_b = spec.nodes[b].ports[port_b.value()];
  SMD_CHECK(end_a.peer_node == kNoNode && end_b.peer_node == kNoNode, "port already has a cable");
  end_a.peer_node = b;
  end_a.peer_port = port_b;
  end_b.peer_node = a;
  end_b.peer_port = port_a;
  end_a.width = end_b.width = width;
  end_a.speed = end_b.speed = speed;
}

std::uint32_t add_node(
    FabricSpec& spec, NodeType type, std::string description, Guid guid, unsigned ports) {
  NodeSpec node;
  node.type = type;
  node.id = default_id(type, guid);
  node.description = std::move(description);
  node.guid = guid;
  node.system_guid = guid;
  node.ports.resize(ports + 1);
  if (type != NodeType::Switch) {
    for (unsigned p = 1; p <= ports; ++p) node.ports[p].guid = Guid{guid.value() + p};
  }
  spec.nodes.push_back(std::move(node));
  return static_cast<std::uint32_t>(spec.nodes.size() - 1);
}

std::string check_spec(const FabricSpec& spec) {
  if (spec.nodes.empty()) return "no nodes";
  for (const NodeSpec& node : spec.nodes) {
    if (std::string why = check_node(node); !why.empty()) return why;
  }
  for (std::size_t n = 0; n < spec.nodes.size(); ++n) {
    for (std::size_t p = 1; p < spec.nodes[n].ports.size(); ++p) {
      if (std::string why = check_cable(spec, n, p); !why.empty()) return why;
    }
  }
  if (std::string why = check_identities(spec); !why.empty()) return why;
  return check_sm(spec);
}

}  // namespace smd::sim

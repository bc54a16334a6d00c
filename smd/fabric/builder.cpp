#include "smd/fabric/builder.h"

#include <cassert>
#include <utility>

#include "smd/base/check.h"

namespace smd {

NodeIdx FabricBuilder::add_node(const NodeInfo& info) {
  SMD_CHECK(info.num_ports <= 254, "a node has at most 254 ports");
  Node node;
  node.info = info;
  node.ports.resize(std::size_t{info.num_ports} + 1);
  if (info.is_switch()) {
    for (Port& port : node.ports) port.guid = info.port_guid;
  } else if (info.local_port != PortNum{0} && info.local_port.value() <= info.num_ports) {
    // An adapter answers with the GUID of the port that was asked; the others come by themselves.
    node.ports[info.local_port.value()].guid = info.port_guid;
  }
  return nodes_.push_back(std::move(node));
}

void FabricBuilder::set_switch_info(NodeIdx node, const SwitchInfo& info) {
  nodes_[node].switch_info = info;
}

void FabricBuilder::set_description(NodeIdx node, std::string text) {
  nodes_[node].description = std::move(text);
}

void FabricBuilder::set_port_info(NodeIdx node, PortNum number, const PortInfo& info) {
  SMD_CHECK(number.value() < nodes_[node].ports.size(), "no such port");
  nodes_[node].ports[number.value()].info = info;
}

void FabricBuilder::set_port_guid(NodeIdx node, PortNum number, Guid guid) {
  SMD_CHECK(number.value() < nodes_[node].ports.size(), "no such port");
  nodes_[node].ports[number.value()].guid = guid;
}

void FabricBuilder::add_link(NodeIdx a, PortNum port_a, NodeIdx b, PortNum port_b) {
  SMD_CHECK(port_a.value() < nodes_[a].ports.size() && port_b.value() < nodes_[b].ports.size(),
            "no such port");
  remove_link(a, port_a);
  remove_link(b, port_b);
  Port& end_a = nodes_[a].ports[port_a.value()];
  end_a.peer_node = b;
  end_a.peer_port = port_b;
  Port& end_b = nodes_[b].ports[port_b.value()];
  end_b.peer_node = a;
  end_b.peer_port = port_a;
}

void FabricBuilder::remove_link(NodeIdx node, PortNum port) {
  Port& near = nodes_[node].ports[port.value()];
  if (near.peer_node == kNone<NodeIdx>) return;
  Port& peer = nodes_[near.peer_node].ports[near.peer_port.value()];
  near.peer_node = kNone<NodeIdx>;
  peer.peer_node = kNone<NodeIdx>;
}

void FabricBuilder::set_sm_port(NodeIdx node, PortNum port) {
  sm_node_ = node;
  sm_port_ = port;
}

std::shared_ptr<const Fabric> FabricBuilder::build(Epoch epoch) const {
  Fabric f;
  f.epoch = epoch;

  const std::size_t nodes = nodes_.size();
  f.node_guid.reserve(nodes);
  f.first_port.reserve(nodes + 1);
  f.switch_of.reserve(nodes);
  f.node_info.reserve(nodes);
  f.description.reserve(nodes);
  f.node_by_guid.reserve(nodes);

  std::uint32_t ports = 0;
  for (const NodeIdx n : nodes_.indices()) {
    const Node& node = nodes_[n];
    f.node_guid.push_back(node.info.node_guid);
    f.node_by_guid.emplace(node.info.node_guid, n);
    f.node_info.push_back(node.info);
    f.description.push_back(node.description);
    f.first_port.push_back(ports);
    ports += static_cast<std::uint32_t>(node.ports.size());
    if (node.info.is_switch()) {
      f.switch_of.push_back(f.switch_node.push_back(n));
      f.switch_info.push_back(node.switch_info);
    } else {
      f.switch_of.push_back(kNone<SwitchIdx>);
    }
  }
  f.first_port.push_back(ports);

  f.peer.reserve(ports);
  f.node_of.reserve(ports);
  f.port_guid.reserve(ports);
  f.port_info.reserve(ports);
  for (const NodeIdx n : nodes_.indices()) {
    for (const Port& port : nodes_[n].ports) {
      f.peer.push_back(port.peer_node == kNone<NodeIdx>
                           ? kNone<PortIdx>
                           : f.port_of(port.peer_node, port.peer_port));
      f.node_of.push_back(n);
      f.port_guid.push_back(port.guid);
      f.port_info.push_back(port.info);
    }
  }

  f.sm_node = sm_node_;
  if (sm_node_ != kNone<NodeIdx>) f.sm_port = f.port_of(sm_node_, sm_port_);
  assert(check_invariants(f).empty());
  return std::make_shared<const Fabric>(std::move(f));
}

std::shared_ptr<const Fabric> with_descriptions(const Fabric& fabric,
                                                const std::map<Guid, std::string>& known) {
  Fabric copy = fabric;
  for (NodeIdx node : copy.node_guid.indices()) {
    const auto text = known.find(copy.node_guid[node]);
    if (text != known.end()) copy.description[node] = text->second;
  }
  return std::make_shared<const Fabric>(std::move(copy));
}

std::shared_ptr<const Fabric> with_port_info(const Fabric& fabric,
                                             IndexVector<PortIdx, PortInfo> port_info) {
  Fabric copy = fabric;
  copy.port_info = std::move(port_info);
  return std::make_shared<const Fabric>(std::move(copy));
}

std::shared_ptr<const Fabric> with_registers(const Fabric& fabric,
                                             IndexVector<PortIdx, PortInfo> port_info,
                                             IndexVector<SwitchIdx, SwitchInfo> switch_info) {
  Fabric copy = fabric;
  copy.port_info = std::move(port_info);
  copy.switch_info = std::move(switch_info);
  return std::make_shared<const Fabric>(std::move(copy));
}

std::shared_ptr<const Fabric> with_fdr10(const Fabric& fabric, std::vector<PortIdx> ports) {
  Fabric copy = fabric;
  copy.fdr10 = std::move(ports);
  return std::make_shared<const Fabric>(std::move(copy));
}

}  // namespace smd

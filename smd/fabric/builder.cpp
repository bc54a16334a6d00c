#include "smd/fabric/builder.h"

#include <cassert>
#include <utility>

#include "smd/base/check.h"

namespace smd {
namespace {

/// Of a snapshot that came of `like`: where nothing differs that it follows from, it is the same.
void update_demand(Fabric& now, const Fabric& like) {
  if (now.site_nodes == like.site_nodes && now.node_info.shares(like.node_info) &&
      now.description.shares(like.description) && now.port_guid.shares(like.port_guid)) {
    now.demand = like.demand;
  } else {
    now.demand = list_demand(now);
  }
}

}  // namespace

FabricBuilder::FabricBuilder(const Fabric& like) : like_(like), made_(like) {}

void FabricBuilder::reserve(std::size_t nodes, std::size_t ports) {
  made_.node_guid.reserve(nodes);
  made_.first_port.reserve(nodes + 1);
  made_.switch_of.reserve(nodes);
  made_.node_info.reserve(nodes);
  made_.description.reserve(nodes);
  made_.peer.reserve(ports);
  made_.node_of.reserve(ports);
  made_.port_guid.reserve(ports);
  made_.port_info.reserve(ports);
}

NodeIdx FabricBuilder::append(const NodeInfo& info,
                              const SwitchInfo& switch_info,
                              const std::string& description,
                              unsigned num_ports) {
  if (made_.first_port.empty()) made_.first_port.push_back(0);
  const NodeIdx node = made_.node_guid.push_back(info.node_guid);
  made_.node_info.push_back(info);
  made_.description.push_back(description);
  if (info.is_switch()) {
    made_.switch_of.push_back(made_.switch_node.push_back(node));
    made_.switch_info.push_back(switch_info);
  } else {
    made_.switch_of.push_back(kNone<SwitchIdx>);
  }
  const std::size_t ports = made_.port_count() + num_ports + 1;
  made_.first_port.push_back(static_cast<std::uint32_t>(ports));
  made_.peer.resize(ports, kNone<PortIdx>);
  made_.node_of.resize(ports, node);
  return node;
}

NodeIdx FabricBuilder::add_node(const Fabric& from, NodeIdx node) {
  const SwitchIdx sw = from.switch_of[node];
  const NodeIdx here = append(from.node_info[node],
                              sw == kNone<SwitchIdx> ? SwitchInfo{} : from.switch_info[sw],
                              from.description[node],
                              from.num_ports(node));
  const std::size_t first = from.first_port[node], last = from.first_port[next(node)];
  made_.port_guid.append(from.port_guid.begin() + first, from.port_guid.begin() + last);
  made_.port_info.append(from.port_info.begin() + first, from.port_info.begin() + last);
  return here;
}

NodeIdx FabricBuilder::add_node(const NodeInfo& info) {
  SMD_CHECK(info.num_ports <= 254, "a node has at most 254 ports");
  const NodeIdx node = append(info, {}, {}, info.num_ports);
  const std::size_t ports = made_.port_count();
  made_.port_guid.resize(ports, info.is_switch() ? info.port_guid : Guid{});
  made_.port_info.resize(ports);
  // An adapter answers with the GUID of the port that was asked; the others come by themselves.
  if (!info.is_switch() && info.local_port != PortNum{0} &&
      info.local_port.value() <= info.num_ports)
    set_port_guid(node, info.local_port, info.port_guid);
  return node;
}

void FabricBuilder::set_node_info(NodeIdx node, const NodeInfo& info) {
  made_.node_info.set(node, info);
}

void FabricBuilder::set_switch_info(NodeIdx node, const SwitchInfo& info) {
  const SwitchIdx sw = std::as_const(made_).switch_of[node];
  if (sw != kNone<SwitchIdx>) made_.switch_info.set(sw, info);
}

void FabricBuilder::set_description(NodeIdx node, const std::string& text) {
  made_.description.set(node, text);
}

PortIdx FabricBuilder::port_of(NodeIdx node, PortNum number) const {
  SMD_CHECK(number.value() <= made_.num_ports(node), "no such port");
  return made_.port_of(node, number);
}

void FabricBuilder::set_port_info(NodeIdx node, PortNum number, const PortInfo& info) {
  made_.port_info.set(port_of(node, number), info);
}

void FabricBuilder::set_port_guid(NodeIdx node, PortNum number, Guid guid) {
  made_.port_guid.set(port_of(node, number), guid);
}

void FabricBuilder::add_link(NodeIdx a, PortNum port_a, NodeIdx b, PortNum port_b) {
  const PortIdx one = port_of(a, port_a);
  const PortIdx other = port_of(b, port_b);
  if (std::as_const(made_).peer[one] == other) return;
  remove_link(a, port_a);
  remove_link(b, port_b);
  made_.peer[one] = other;
  made_.peer[other] = one;
}

void FabricBuilder::remove_link(NodeIdx node, PortNum port) {
  const PortIdx near = port_of(node, port);
  const PortIdx peer = std::as_const(made_).peer[near];
  if (peer == kNone<PortIdx>) return;
  made_.peer[near] = kNone<PortIdx>;
  made_.peer[peer] = kNone<PortIdx>;
}

void FabricBuilder::set_sm_port(NodeIdx node, PortNum port) {
  made_.sm_node = node;
  made_.sm_port = node == kNone<NodeIdx> ? kNone<PortIdx> : port_of(node, port);
}

void FabricBuilder::set_fdr10(std::vector<PortIdx> ports) { made_.fdr10 = std::move(ports); }

void FabricBuilder::set_site_nodes(std::shared_ptr<const SiteNodes> rules) {
  made_.site_nodes = std::move(rules);
}

std::shared_ptr<const Fabric> FabricBuilder::build(Epoch epoch) const {
  Fabric f = made_;
  f.epoch = epoch;
  if (f.first_port.empty()) f.first_port.push_back(0);
  if (f.node_by_guid->size() != f.node_count()) {
    NodeByGuid by_guid;
    by_guid.reserve(f.node_count());
    for (const NodeIdx node : f.node_guid.indices())
      by_guid.emplace(std::as_const(f).node_guid[node], node);
    f.node_by_guid = std::move(by_guid);
  }
  update_demand(f, like_);
  assert(check_invariants(f).empty());
  return std::make_shared<const Fabric>(std::move(f));
}

std::shared_ptr<const Fabric> with_descriptions(const Fabric& fabric,
                                                const std::unordered_map<Guid, std::string>& known,
                                                std::shared_ptr<const SiteNodes> rules) {
  Fabric copy = fabric;
  for (const NodeIdx node : fabric.node_guid.indices()) {
    const auto text = known.find(fabric.node_guid[node]);
    if (text != known.end()) copy.description.set(node, text->second);
  }
  copy.site_nodes = std::move(rules);
  update_demand(copy, fabric);
  return std::make_shared<const Fabric>(std::move(copy));
}

std::shared_ptr<const Fabric> with_traffic(const Fabric& fabric,
                                           std::shared_ptr<const SiteNodes> rules) {
  Fabric copy = fabric;
  copy.site_nodes = std::move(rules);
  copy.demand = list_demand(copy);
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

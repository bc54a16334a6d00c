#include "smd/discovery/survey.h"

#include <algorithm>

namespace smd {

void Survey::seed(const SweepReport& known) {
  const Fabric& fabric = *known.fabric;
  nodes_.reserve(fabric.node_count());
  by_guid_.reserve(fabric.node_count());
  for (const NodeIdx n : fabric.node_guid.indices()) {
    Node node{.info = fabric.node_info[n],
              .description = fabric.description[n],
              .route = SmpRoute::directed(known.path[n])};
    if (fabric.is_switch(n)) node.switch_info = fabric.switch_info[fabric.switch_of[n]];
    node.ports.resize(fabric.num_ports(n) + 1);
    node.peers.resize(node.ports.size(), kNoCable);
    for (const PortIdx p : fabric.ports_of(n)) {
      Port& port = node.ports[fabric.number_of(p).value()];
      port.info = fabric.port_info[p];
      port.guid = fabric.port_guid[p];
      port.read = port.info != PortInfo{};
      const PortIdx peer = fabric.peer[p];
      if (peer == kNone<PortIdx>) continue;
      node.peers[fabric.number_of(p).value()] = {fabric.node_of[peer].value(),
                                                 fabric.number_of(peer)};
    }
    by_guid_.emplace(fabric.node_guid[n], n.value());
    nodes_.push_back(std::move(node));
  }
  for (const PortIdx p : fabric.fdr10) {
    port({fabric.node_of[p].value(), fabric.number_of(p)}).fdr10 = true;
  }
  local_port_ = fabric.number_of(fabric.sm_port);
}

std::uint32_t Survey::add(const NodeInfo& info, const SmpRoute& route) {
  Node node{.info = info, .route = route};
  node.ports.resize(info.num_ports + 1u);
  node.peers.resize(node.ports.size(), kNoCable);
  if (info.is_switch()) {
    for (Port& port : node.ports) port.guid = info.port_guid;
  }
  nodes_.push_back(std::move(node));
  by_guid_.emplace(info.node_guid, size() - 1);
  return size() - 1;
}

void Survey::forget(std::uint32_t node) {
  by_guid_.erase(nodes_[node].info.node_guid);
  nodes_[node].broken = true;
}

std::optional<std::uint32_t> Survey::find(Guid guid) const {
  const auto found = by_guid_.find(guid);
  if (found == by_guid_.end()) return std::nullopt;
  return found->second;
}

std::optional<CableEnd> Survey::peer(CableEnd end) const {
  const CableEnd far = peers(end.node)[end.port.value()];
  if (far.node == kNobody) return std::nullopt;
  return far;
}

void Survey::link(CableEnd a, CableEnd b) {
  for (const CableEnd end : {a, b}) {
    if (const auto old = peer(end)) peer_of(*old) = kNoCable;
  }
  peer_of(a) = b;
  peer_of(b) = a;
}

void Survey::unlink(CableEnd end) {
  const auto other = peer(end);
  if (!other) return;
  for (const CableEnd at : {end, *other}) {
    const bool keeps_info = nodes_[at.node].info.is_switch() || at == CableEnd{0, local_port_};
    Port& p = port(at);
    peer_of(at) = kNoCable;
    p.joined = p.fdr10 = false;
    if (!keeps_info) p = {};
  }
}

}  // namespace smd

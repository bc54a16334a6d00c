#include "smd/discovery/destination_devices.h"

namespace smd {
namespace {

const std::set<std::uint32_t> kNobody{};

const std::set<std::uint32_t>& find_in(
    const std::map<std::uint32_t, std::set<std::uint32_t>>& lists, std::uint32_t key) {
  const auto found = lists.find(key);
  return found == lists.end() ? kNobody : found->second;
}

/// The port that a device's LID belongs to, and where its packets enter the switches.
struct Attachment {
  Lid lid = kUnassignedLid;
  NodeIdx entry = kNone<NodeIdx>;
};

Attachment attachment_of(const KnownSubnet& known, NodeIdx node) {
  const Fabric& fabric = *known.sweep->fabric;
  if (fabric.is_switch(node)) return {known.lids->base[fabric.port_of(node, PortNum{0})], node};
  for (const PortIdx port : fabric.external_ports(node)) {
    const PortIdx peer = fabric.peer[port];
    const Lid lid = known.lids->base[port];
    if (peer != kNone<PortIdx> && lid != kUnassignedLid) return {lid, fabric.node_of[peer]};
  }
  return {};
}

}  // namespace

DestinationDevices::DestinationDevices(const KnownSubnet& known) {
  const Fabric& fabric = *known.sweep->fabric;
  const Attachment manager = attachment_of(known, fabric.sm_node);
  if (manager.entry == kNone<NodeIdx>) return;
  for (const NodeIdx node : fabric.node_guid.indices()) {
    const Attachment device = attachment_of(known, node);
    if (node == fabric.sm_node || device.entry == kNone<NodeIdx>) continue;
    add_walk(known, manager.entry, device.lid, node.value());
    add_walk(known, device.entry, manager.lid, node.value());
  }
}

void DestinationDevices::add_walk(const KnownSubnet& known,
                                  NodeIdx from,
                                  Lid lid,
                                  std::uint32_t device) {
  const Fabric& fabric = *known.sweep->fabric;
  NodeIdx at = from;
  for (std::size_t step = 0; step < fabric.switch_count() && fabric.is_switch(at); ++step) {
    if (at.value() != device) {
      switches_[device].insert(at.value());
      devices_[at.value()].insert(device);
    }
    const PortNum egress = known.lft->route(fabric.switch_of[at], lid);
    if (egress == PortNum{0} || egress == kNoRoute || egress.value() > fabric.num_ports(at)) return;
    const PortIdx peer = fabric.peer[fabric.port_of(at, egress)];
    if (peer == kNone<PortIdx>) return;
    at = fabric.node_of[peer];
  }
}

const std::set<std::uint32_t>& DestinationDevices::switches_to(std::uint32_t device) const {
  return find_in(switches_, device);
}

const std::set<std::uint32_t>& DestinationDevices::devices_of(std::uint32_t sw) const {
  return find_in(devices_, sw);
}

void DestinationDevices::purge(std::uint32_t device) {
  for (const std::uint32_t sw : switches_to(device)) devices_[sw].erase(device);
  switches_.erase(device);
}

void DestinationDevices::reroute(std::uint32_t device, std::uint32_t last) {
  purge(device);
  std::set<std::uint32_t> way = switches_to(last);
  way.insert(last);
  way.erase(device);
  for (const std::uint32_t sw : way) devices_[sw].insert(device);
  switches_[device] = std::move(way);
}

}  // namespace smd

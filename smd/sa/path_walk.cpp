#include "smd/sa/path_walk.h"

#include <algorithm>

#include "smd/ib/rates.h"

namespace smd::sa {
namespace {

/// What a way carries so far: the rate as its place in the order of speed.
struct Narrowest {
  std::uint8_t mtu = 0;
  unsigned rate = 0;
  unsigned links = 0;
};

unsigned rate_of(const Fabric& fabric, PortIdx port) {
  return link_rate_order(active_width(fabric.port_info[port]), link_speed(fabric, port));
}

/// Narrows it to what the link behind `port` carries.
void pass_link(const Fabric& fabric, PortIdx port, Narrowest& way) {
  const std::uint8_t mtu = fabric.port_info[port].neighbor_mtu;
  const unsigned rate = rate_of(fabric, port);
  way.mtu = way.links == 0 ? mtu : std::min(way.mtu, mtu);
  way.rate = way.links == 0 ? rate : std::min(way.rate, rate);
  ++way.links;
}

/// Port 0 of a switch has limits of its own.
void pass_end(const Fabric& fabric, PortIdx port, Narrowest& way) {
  if (fabric.number_of(port) != PortNum{0}) return;
  way.mtu = std::min(way.mtu, fabric.port_info[port].mtu_cap);
  const unsigned rate = rate_of(fabric, port);
  if (rate != 0) way.rate = std::min(way.rate, rate);
}

PortNum egress(const RoutingTables& routing, SwitchIdx sw, Lid destination) {
  const PortNum out =
      destination <= routing.lft.top() ? routing.lft.route(sw, destination) : kNoRoute;
  if (out != kNoRoute || routing.default_port.size() == 0) return out;
  return routing.default_port[sw];
}

}  // namespace

std::optional<Way> find_way(const SubnetView& view,
                            PortIdx source,
                            Lid destination,
                            std::vector<PortIdx>* exits) {
  const Fabric& fabric = view.fabric();
  const RoutingTables& routing = view.routing();
  const PortIdx target = view.lids().owner_of(destination);
  if (target == kNone<PortIdx>) return std::nullopt;
  Way way;
  if (source == target) {
    const PortInfo& info = fabric.port_info[source];
    way.mtu = info.mtu_cap;
    way.rate = rate_code(active_width(info), link_speed(fabric, source));
    return way;
  }
  Narrowest narrowest;
  PortIdx at = source;  // where the packet has arrived
  if (!fabric.is_switch(fabric.node_of[source])) {
    pass_link(fabric, source, narrowest);
    if (exits != nullptr) exits->push_back(source);
    at = fabric.peer[source];
  }
  if (at == kNone<PortIdx>) return std::nullopt;
  const NodeIdx first = fabric.node_of[at];
  if (fabric.is_switch(first) && !routing.path_sls.empty())
    way.sl = routing.path_sls.sl(fabric.switch_of[first], destination);
  while (at != target) {
    const NodeIdx node = fabric.node_of[at];
    const SwitchIdx sw = fabric.switch_of[node];
    if (sw == kNone<SwitchIdx>) return std::nullopt;
    if (node == fabric.node_of[target]) break;
    if (narrowest.links > fabric.switch_count() + 1) return std::nullopt;
    const PortNum out = egress(routing, sw, destination);
    if (out.value() == 0 || out.value() > fabric.num_ports(node)) return std::nullopt;
    const PortIdx leaving = fabric.port_of(node, out);
    if (fabric.peer[leaving] == kNone<PortIdx>) return std::nullopt;
    pass_link(fabric, leaving, narrowest);
    if (exits != nullptr) exits->push_back(leaving);
    at = fabric.peer[leaving];
  }
  pass_end(fabric, source, narrowest);
  pass_end(fabric, target, narrowest);
  way.mtu = narrowest.mtu;
  way.rate = rate_at(narrowest.rate);
  way.links = narrowest.links;
  return way;
}

}  // namespace smd::sa

#include "smd/sa/path_walk.h"

#include <algorithm>

#include "smd/ib/rates.h"

namespace smd::sa {
namespace {

/// Narrows the way to what the link behind `port` carries.
void pass_link(const Fabric& fabric, PortIdx port, Way& way) {
  const PortInfo& info = fabric.port_info[port];
  const std::uint8_t rate = rate_code(active_width(info), link_speed(fabric, port));
  way.mtu = way.links == 0 ? info.neighbor_mtu : std::min(way.mtu, info.neighbor_mtu);
  if (way.links == 0 || rate_order(rate) < rate_order(way.rate)) way.rate = rate;
  ++way.links;
}

/// Port 0 of a switch has limits of its own.
void pass_end(const Fabric& fabric, PortIdx port, Way& way) {
  if (fabric.number_of(port) != PortNum{0}) return;
  const PortInfo& info = fabric.port_info[port];
  way.mtu = std::min(way.mtu, info.mtu_cap);
  const std::uint8_t rate = rate_code(active_width(info), link_speed(fabric, port));
  if (rate != 0 && rate_order(rate) < rate_order(way.rate)) way.rate = rate;
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
  PortIdx at = source;  // where the packet has arrived
  if (!fabric.is_switch(fabric.node_of[source])) {
    pass_link(fabric, source, way);
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
    if (way.links > fabric.switch_count() + 1) return std::nullopt;
    const PortNum out = egress(routing, sw, destination);
    if (out.value() == 0 || out.value() > fabric.num_ports(node)) return std::nullopt;
    const PortIdx leaving = fabric.port_of(node, out);
    if (fabric.peer[leaving] == kNone<PortIdx>) return std::nullopt;
    pass_link(fabric, leaving, way);
    if (exits != nullptr) exits->push_back(leaving);
    at = fabric.peer[leaving];
  }
  pass_end(fabric, source, way);
  pass_end(fabric, target, way);
  return way;
}

}  // namespace smd::sa

#include "sim-backend/scenario/fabric_facts.h"

#include <algorithm>
#include <map>

namespace smd::sim {
namespace {

constexpr unsigned kMostHops = 64;

/// From the first switch of a route to its host.
struct Walk {
  unsigned switches = 0;  // 0: there is no route
  Picos time = 0;         // of switches and cables, for a head that nothing holds up
};

/// From a head's coming in until it is on the link.
Picos switch_time(const PacketNet& net, const Wire& out) {
  const SwitchModel& sw = net.options().switches;
  return sw.routing + sw.mapping + sw.crossbar_arbitration + sw.crossbar_setup +
         (sw.output_buffers ? transfer_time(out.crossing_time, 1) + sw.link_arbitration : 0);
}

Walk walk(const PacketNet& net, const ProgrammedFabric& fabric, std::uint32_t node, Lid to) {
  const Wiring& wiring = net.wiring();
  Walk out;
  while (out.switches < kMostHops) {
    const std::vector<PortNum>& lft = fabric.nodes[node].lft;
    if (to.value() >= lft.size()) return {};
    const unsigned port = lft[to.value()].value();
    if (port == 0 || port > wiring.num_ports[node]) return {};
    const Wire& wire = wiring.wires[wiring.port_of(node, port)];
    if (wire.peer == kNowhere) return {};
    ++out.switches;
    out.time += switch_time(net, wire) + wire.propagation;
    node = wiring.wires[wire.peer].node;
    if (wiring.is_switch[node] == 0) return out;
  }
  return {};
}

/// Hosts of each switch that has any.
std::map<std::uint32_t, unsigned> count_hosts(const Wiring& wiring) {
  std::map<std::uint32_t, unsigned> out;
  for (const PortAt port : wiring.host_port) {
    const PortAt peer = wiring.wires[port].peer;
    if (peer != kNowhere) ++out[wiring.wires[peer].node];
  }
  return out;
}

/// Of the hosts' links: the time of a byte. The fastest: one slow adapter is no reason to hold all
/// others back.
std::uint32_t fastest_link(const PacketNet& net) {
  std::uint32_t least = 0;
  for (const PortAt port : net.wiring().host_port) {
    const std::uint32_t byte_time = net.wiring().wires[port].byte_time;
    if (byte_time != 0 && (least == 0 || byte_time < least)) least = byte_time;
  }
  return least;
}

/// Of switches and cables on the way from any host to any other.
Walk longest_walk(const PacketNet& net, const ProgrammedFabric& fabric) {
  const Wiring& wiring = net.wiring();
  std::map<std::uint32_t, Picos> first_cable;  // the longest of a switch's hosts
  for (const PortAt port : wiring.host_port) {
    const Wire& wire = wiring.wires[port];
    if (wire.peer == kNowhere) continue;
    Picos& longest = first_cable[wiring.wires[wire.peer].node];
    longest = std::max<Picos>(longest, wire.propagation);
  }
  Walk out;
  for (const auto& [leaf, cable] : first_cable) {
    if (wiring.is_switch[leaf] == 0) continue;
    for (const Lid lid : fabric.host_lids) {
      const Walk way = walk(net, fabric, leaf, lid);
      out.switches = std::max(out.switches, way.switches);
      if (way.switches > 0) out.time = std::max(out.time, cable + way.time);
    }
  }
  return out;
}

}  // namespace

unsigned longest_route(const PacketNet& net, const ProgrammedFabric& fabric) {
  return longest_walk(net, fabric).switches;
}

FabricFacts survey(const PacketNet& net, const ProgrammedFabric& fabric, unsigned payload) {
  const Wiring& wiring = net.wiring();
  const Walk way = longest_walk(net, fabric);
  const unsigned header = net.options().links.header_bytes;
  const std::uint32_t byte_time = fastest_link(net);
  const Picos packet = transfer_time(byte_time, payload + header);
  FabricFacts out{.nodes = static_cast<std::uint32_t>(fabric.nodes.size()),
                  .hosts = net.host_count(),
                  .stages = (std::max(1u, way.switches) + 2) / 2,
                  .round_trip = 2 * (net.options().adapters.latency + way.time) + packet +
                                transfer_time(byte_time, kAckPayload + header)};
  if (packet > 0) out.window = static_cast<unsigned>((out.round_trip + packet - 1) / packet);
  for (const auto& [leaf, hosts] : count_hosts(wiring)) out.radix = std::max(out.radix, hosts);
  for (std::uint32_t node = 0; node < out.nodes; ++node) {
    if (wiring.is_switch[node] != 0) {
      out.switch_ports = std::max<unsigned>(out.switch_ports, wiring.num_ports[node]);
    }
  }
  for (const PortAt port : wiring.host_port) {
    const PortAt peer = wiring.wires[port].peer;
    if (peer == kNowhere || wiring.is_switch[wiring.wires[peer].node] == 0) continue;
    out.host_ports.emplace_back(wiring.wires[peer].node, wiring.wires[peer].number);
  }
  return out;
}

}  // namespace smd::sim

#include "sim-backend/scenario/fabric_facts.h"

#include <algorithm>
#include <map>

namespace smd::sim {
namespace {

constexpr unsigned kMostHops = 64;

unsigned walk(const PacketNet& net, const ProgrammedFabric& fabric, std::uint32_t node, Lid to) {
  const Wiring& wiring = net.wiring();
  for (unsigned switches = 1; switches <= kMostHops; ++switches) {
    const std::vector<PortNum>& lft = fabric.nodes[node].lft;
    if (to.value() >= lft.size()) return 0;
    const unsigned port = lft[to.value()].value();
    if (port == 0 || port > wiring.num_ports[node]) return 0;
    const PortAt peer = wiring.wires[wiring.port_of(node, port)].peer;
    if (peer == kNowhere) return 0;
    node = wiring.wires[peer].node;
    if (wiring.is_switch[node] == 0) return switches;
  }
  return 0;
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

/// Of the hosts' links: the time of a byte.
std::uint32_t slowest_link(const PacketNet& net) {
  std::uint32_t byte_time = 0;
  for (const PortAt port : net.wiring().host_port) {
    byte_time = std::max(byte_time, net.wiring().wires[port].byte_time);
  }
  return byte_time;
}

}  // namespace

unsigned longest_route(const PacketNet& net, const ProgrammedFabric& fabric) {
  unsigned longest = 0;
  for (const auto& [leaf, hosts] : count_hosts(net.wiring())) {
    if (net.wiring().is_switch[leaf] == 0) continue;
    for (const Lid lid : fabric.host_lids)
      longest = std::max(longest, walk(net, fabric, leaf, lid));
  }
  return longest;
}

Picos empty_round_trip(const PacketNet& net, unsigned switches, unsigned payload) {
  const PacketOptions& options = net.options();
  const SwitchModel& sw = options.switches;
  const std::uint32_t byte_time = slowest_link(net);
  const Picos crossing = transfer_time(
      static_cast<std::uint32_t>(std::uint64_t{byte_time} * 100 / sw.speed_up_percent), 1);
  const Picos hop = sw.routing + sw.mapping + sw.crossbar_arbitration + sw.crossbar_setup +
                    (sw.output_buffers ? crossing + sw.link_arbitration : 0) +
                    options.links.propagation;
  const unsigned header = options.links.header_bytes;
  return 2 * (switches * hop + options.links.propagation + options.adapters.latency) +
         transfer_time(byte_time, payload + header) +
         transfer_time(byte_time, kAckPayload + header);
}

FabricFacts survey(const PacketNet& net, const ProgrammedFabric& fabric, unsigned payload) {
  const Wiring& wiring = net.wiring();
  const unsigned route = std::max(1u, longest_route(net, fabric));
  FabricFacts out{.nodes = static_cast<std::uint32_t>(fabric.nodes.size()),
                  .hosts = net.host_count(),
                  .stages = (route + 2) / 2,
                  .round_trip = empty_round_trip(net, route, payload)};
  const Picos packet = transfer_time(slowest_link(net), payload + net.options().links.header_bytes);
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

#include "sim-backend/packet/wiring.h"

#include <algorithm>

#include "sim-backend/packet/credits.h"

namespace smd::sim {
namespace {

constexpr std::uint64_t kBitsPerByteTimesPicosPerMicro = 8'000'000;

/// By node; kNowhere for adapters, and where there are no groups.
std::vector<std::uint32_t> find_groups(const FabricSpec& spec, unsigned group_switches) {
  std::vector<std::uint32_t> group(spec.nodes.size(), kNowhere);
  std::uint32_t switches = 0;
  for (std::uint32_t n = 0; n < spec.nodes.size() && group_switches > 0; ++n) {
    if (spec.nodes[n].type == NodeType::Switch) group[n] = switches++ / group_switches;
  }
  return group;
}

Picos propagation_of(const LinkModel& links, std::uint32_t group, std::uint32_t far_group) {
  if (group == kNowhere || far_group == kNowhere) return links.propagation;
  return group == far_group ? links.within_groups : links.between_groups;
}

}  // namespace

std::uint32_t byte_time_of(LinkWidth width, LinkSpeed speed) {
  const std::uint64_t mbps = std::uint64_t{lanes(width)} * lane_mbps(speed);
  if (mbps == 0) return 0;
  return static_cast<std::uint32_t>(((kBitsPerByteTimesPicosPerMicro << 16) + mbps / 2) / mbps);
}

Wiring::Wiring(const FabricSpec& spec, const PacketOptions& options) {
  const LinkModel& links = options.links;
  std::size_t ports = 0, adapter_ports = 0;
  for (const NodeSpec& node : spec.nodes) {
    ports += node.ports.size() - (node.type != NodeType::Switch);
    if (node.type != NodeType::Switch) adapter_ports += node.num_ports();
  }
  wires.reserve(ports);
  host_port.reserve(adapter_ports);
  first_port.reserve(spec.nodes.size());
  is_switch.reserve(spec.nodes.size());
  num_ports.reserve(spec.nodes.size());
  for (const NodeSpec& node : spec.nodes) {
    const bool sw = node.type == NodeType::Switch;
    const auto at = static_cast<std::uint32_t>(wires.size());
    is_switch.push_back(sw);
    num_ports.push_back(static_cast<std::uint8_t>(node.num_ports()));
    first_port.push_back(sw ? at : at - 1);
    for (unsigned p = sw ? 0 : 1; p <= node.num_ports(); ++p) {
      wires.push_back({.node = static_cast<std::uint32_t>(is_switch.size() - 1),
                       .first = first_port.back(),
                       .number = static_cast<std::uint8_t>(p),
                       .last_number = num_ports.back(),
                       .on_switch = sw});
    }
  }
  host_of.assign(wires.size(), kNowhere);
  const std::vector<std::uint32_t> group = find_groups(spec, links.group_switches);
  for (std::uint32_t n = 0; n < spec.nodes.size(); ++n) {
    for (unsigned p = 1; p <= num_ports[n]; ++p) {
      const PortSpec& port = spec.nodes[n].ports[p];
      if (port.peer_node == kNoNode) continue;
      const PortSpec& far = spec.nodes[port.peer_node].ports[port.peer_port.value()];
      const PortAt at = port_of(n, p);
      Wire& wire = wires[at];
      wire.peer = port_of(port.peer_node, port.peer_port.value());
      wire.to_switch = is_switch[port.peer_node] != 0;
      wire.propagation =
          static_cast<std::uint32_t>(propagation_of(links, group[n], group[port.peer_node]));
      const LinkWidth width = lanes(far.width) < lanes(port.width) ? far.width : port.width;
      wire.byte_time = links.byte_time > 0 ? static_cast<std::uint32_t>(links.byte_time << 16)
                                           : byte_time_of(width, std::min(port.speed, far.speed));
      if (is_switch[n]) continue;
      host_of[at] = static_cast<HostNum>(host_port.size());
      host_port.push_back(at);
      if (!options.adapters.static_rate) continue;
      const std::uint32_t mbps = lanes(width) * lane_mbps(std::min(port.speed, far.speed));
      host_mbps.push_back(links.byte_time > 0 ? 1 : mbps);  // then all are alike
    }
    set_crossing_time(n, options.switches.speed_up_percent);
  }
}

CreditLoop Wiring::longest_credit_loop(const PacketOptions& options, unsigned payload) const {
  const SwitchModel& sw = options.switches;
  const LinkModel& links = options.links;
  const unsigned bytes = payload + links.header_bytes;
  CreditLoop out;
  for (const Wire& wire : wires) {
    if (wire.peer == kNowhere || !wire.to_switch || wire.byte_time == 0) continue;
    const Picos packet = transfer_time(wire.byte_time, bytes);
    const Picos crossing =
        sw.output_buffers ? transfer_time(wires[wire.peer].crossing_time, bytes) : packet;
    const Picos pipeline = sw.routing + sw.mapping + sw.crossbar_arbitration;
    // The last byte cannot cross before it is in.
    const Picos inside = std::max(pipeline + crossing, packet) + sw.crossbar_setup;
    const Picos credit = links.flow_control_packets
                             ? packet + transfer_time(wire.byte_time, kFlowControlBytes)
                             : Picos{0};
    const CreditLoop loop{.packet = packet, .turn = 2 * Picos{wire.propagation} + inside + credit};
    if (static_cast<double>(loop.turn) * static_cast<double>(out.packet) >
            static_cast<double>(out.turn) * static_cast<double>(loop.packet) ||
        out.packet == 0) {
      out = loop;
    }
  }
  return out;
}

/// The crossbar goes by the switch's fastest link.
void Wiring::set_crossing_time(std::uint32_t node, unsigned speed_up_percent) {
  std::uint32_t least = 0;
  for (unsigned p = 1; p <= num_ports[node]; ++p) {
    const std::uint32_t byte_time = wires[port_of(node, p)].byte_time;
    if (byte_time != 0 && (least == 0 || byte_time < least)) least = byte_time;
  }
  const auto crossing = static_cast<std::uint32_t>(std::uint64_t{least} * 100 / speed_up_percent);
  for (unsigned p = 1; p <= num_ports[node]; ++p) wires[port_of(node, p)].crossing_time = crossing;
}

}  // namespace smd::sim

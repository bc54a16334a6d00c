// Circles of full buffers. Every buffer is a FIFO, so its first packet waits for one thing: room in
// the output buffer, or credit for the input buffer at the far end. A circle of such waits stays
// closed whatever else happens.
#include <fmt/core.h>

#include "sim-backend/packet/credits.h"
#include "sim-backend/packet/net_impl.h"

namespace smd::sim {

/// The newest FCCL, on its way or here.
std::uint16_t PacketNet::Impl::known_limit(PortVl out) const {
  const PortAt peer = wiring_.wires[port_of_vl(out)].peer;
  return peer == kNowhere ? state_.outs[out].fccl : state_.ins[peer * vls_ + vl_of(out)].advertised;
}

std::vector<WaitingHop> PacketNet::Impl::find_deadlock() const {
  const auto port_vls = static_cast<std::uint32_t>(state_.ins.size());
  const bool buffered = options_.switches.output_buffers;
  // Node i is input VL i; with output buffers, node `port_vls` + j is output VL j.
  const auto waits_for_credit = [&](PortVl port_vl, PortVl from, PacketAt head) {
    const NetPort& port = state_.ports[port_of_vl(port_vl)];
    const PortAt peer = wiring_.wires[port_of_vl(port_vl)].peer;
    if (!port.sends() || port.link_running || peer == kNowhere || !is_switch_port(peer)) {
      return kNowhere;
    }
    const DataPacket& first = packet(from, head);
    const unsigned blocks = unsigned{first.blocks} + first.copy_blocks;
    if (has_credit(known_limit(port_vl), state_.outs[port_vl].fctbs, blocks)) return kNowhere;
    return peer * vls_ + vl_of(port_vl);
  };
  const auto next = [&](std::uint32_t at) -> std::uint32_t {
    if (at >= port_vls) {
      const OutputVl& out = state_.outs[at - port_vls];
      return out.head == kNowhere ? kNowhere
                                  : waits_for_credit(at - port_vls, at - port_vls, out.head);
    }
    const InputVl& in = state_.ins[at];
    if (in.wants == kNowhere || in.busy) return kNowhere;
    if (!buffered) return waits_for_credit(in.wants, at, in.head);
    const DataPacket& first = packet(at, in.head);
    const bool room = state_.outs[in.wants].room >= unsigned{first.blocks} + first.copy_blocks;
    return room ? kNowhere : port_vls + in.wants;
  };

  std::vector<std::uint32_t> seen(buffered ? 2 * port_vls : port_vls, 0);
  for (std::uint32_t start = 0; start < port_vls; ++start) {
    std::uint32_t at = start;
    while (at != kNowhere && seen[at] == 0) {
      seen[at] = start + 1;
      at = next(at);
    }
    if (at == kNowhere || seen[at] != start + 1) continue;
    std::vector<WaitingHop> circle;
    const std::uint32_t first = at;
    do {
      if (at < port_vls) {
        const PortVl wants = state_.ins[at].wants;
        const Wire& wire = wiring_.wires[port_of_vl(wants)];
        circle.push_back({.node = wire.node,
                          .port = PortNum{wire.number},
                          .vl = Vl{static_cast<std::uint8_t>(vl_of(wants))}});
      }
      at = next(at);
    } while (at != first);
    return circle;
  }
  return {};
}

std::string print_deadlock(const FabricSpec& spec, const std::vector<WaitingHop>& circle) {
  std::string out;
  for (const WaitingHop& hop : circle) {
    if (!out.empty()) out += " -> ";
    out += fmt::format(
        "{}:{}(VL{})", spec.nodes[hop.node].description, hop.port.value(), hop.vl.value());
    if (hop.holder) out += fmt::format(" held by worm {}", *hop.holder);
  }
  return out;
}

}  // namespace smd::sim

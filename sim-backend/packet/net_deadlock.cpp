// Circles of full buffers. Every buffer is a FIFO, so its first packet waits for one thing: room in
// the output buffer, or credit for the input buffer at the far end. A circle of such waits stays
// closed whatever else happens.
#include <fmt/core.h>

#include "sim-backend/packet/credits.h"
#include "sim-backend/packet/net_impl.h"

namespace smd::sim {

/// The newest FCCL, on its way or here.
std::uint16_t PacketNet::Impl::known_limit(LaneAt out) const {
  const PortAt peer = wiring_.wires[port_of_lane(out)].peer;
  return peer == kNowhere ? state_.outs[out].fccl : state_.ins[peer * vls_ + vl_of_lane(out)].told;
}

std::vector<WaitingHop> PacketNet::Impl::find_deadlock() const {
  const auto lanes = static_cast<std::uint32_t>(state_.ins.size());
  const bool buffered = options_.switches.output_buffers;
  // Node i is input lane i; with output buffers, node lanes + j is output lane j.
  const auto waits_for_credit = [&](LaneAt lane, LaneAt from, CellAt head) {
    const NetPort& port = state_.ports[port_of_lane(lane)];
    const PortAt peer = wiring_.wires[port_of_lane(lane)].peer;
    if (!port.sends() || port.link_running || peer == kNowhere || !is_switch_port(peer)) {
      return kNowhere;
    }
    const Cell& first = cell(from, head);
    const unsigned blocks = unsigned{first.blocks} + first.copy_blocks;
    if (has_credit(known_limit(lane), state_.outs[lane].fctbs, blocks)) return kNowhere;
    return peer * vls_ + vl_of_lane(lane);
  };
  const auto next = [&](std::uint32_t at) -> std::uint32_t {
    if (at >= lanes) {
      const OutLane& out = state_.outs[at - lanes];
      return out.head == kNowhere ? kNowhere : waits_for_credit(at - lanes, at - lanes, out.head);
    }
    const InLane& in = state_.ins[at];
    if (in.wants == kNowhere || in.busy) return kNowhere;
    if (!buffered) return waits_for_credit(in.wants, at, in.head);
    const Cell& first = cell(at, in.head);
    const bool room = state_.outs[in.wants].room >= unsigned{first.blocks} + first.copy_blocks;
    return room ? kNowhere : lanes + in.wants;
  };

  std::vector<std::uint32_t> seen(buffered ? 2 * lanes : lanes, 0);
  for (std::uint32_t start = 0; start < lanes; ++start) {
    std::uint32_t at = start;
    while (at != kNowhere && seen[at] == 0) {
      seen[at] = start + 1;
      at = next(at);
    }
    if (at == kNowhere || seen[at] != start + 1) continue;
    std::vector<WaitingHop> circle;
    const std::uint32_t first = at;
    do {
      if (at < lanes) {
        const LaneAt wants = state_.ins[at].wants;
        const Wire& wire = wiring_.wires[port_of_lane(wants)];
        circle.push_back({.node = wire.node,
                          .port = PortNum{wire.number},
                          .vl = Vl{static_cast<std::uint8_t>(vl_of_lane(wants))}});
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
  }
  return out;
}

}  // namespace smd::sim

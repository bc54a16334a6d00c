// Circles of full buffers. Every buffer is a FIFO, so its first packet waits for one thing: room in
// the output buffer, or credit for the input buffer at the far end; for itself, or for whom stands
// in line before it: nothing overtakes there but an older packet (`oldest_first`), which takes room
// or credit away. A circle of such waits stays closed whatever else
// happens.
//
// One thing opens a line: where the VLs of an input port share its way into the crossbar, the line
// passes over an input whose port is busy with another VL. Who waits only behind such an input is
// stuck as long as that port's other VLs are, or no other is in use.
#include <fmt/core.h>

#include <algorithm>

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
  const bool shared_way = options_.switches.multiplexed && vls_ > 1;
  const std::uint32_t nodes = buffered ? 2 * port_vls : port_vls;
  // Node i is input VL i; with output buffers, node `port_vls` + j is output VL j.
  std::vector<std::uint8_t> moves(shared_way ? nodes : 0, 0);  // what will move by and by

  // The input that a packet waits for at the far end of its way out, if it has no credit.
  const auto waits_for_credit = [&](PortVl port_vl, PortVl from, PacketAt head) {
    const NetPort& port = state_.ports[port_of_vl(port_vl)];
    const PortAt peer = wiring_.wires[port_of_vl(port_vl)].peer;
    if (!port.sends() || peer == kNowhere || !is_switch_port(peer)) return kNowhere;
    const DataPacket& first = packet(from, head);
    const unsigned blocks = unsigned{first.blocks} + first.copy_blocks;
    if (has_credit(known_limit(port_vl), state_.outs[port_vl].fctbs, blocks)) return kNowhere;
    return peer * vls_ + vl_of(port_vl);
  };
  // What is on the link gives its room back.
  const auto has_room = [&](const DataPacket& first) {
    const NetPort& port = state_.ports[port_of_vl(first.out)];
    const unsigned leaving = port.link_running && port.link_vl == first.out ? port.link_blocks : 0;
    return state_.outs[first.out].room + leaving >= unsigned{first.blocks} + first.copy_blocks;
  };
  // What the packet that has just one way waits for there: room, or credit.
  const auto waits_for_way = [&](PortVl from) {
    const InputVl& in = state_.ins[from];
    if (!buffered) return waits_for_credit(in.wants, from, in.head);
    const DataPacket& first = packet(from, in.head);
    return has_room(first) ? kNowhere : port_vls + first.out;
  };
  // Who is served next of the line that an input stands in.
  const auto served_next = [&](PortVl out) {
    PortVl ask = state_.outs[out].asks_head;
    while (ask != kNowhere && options_.switches.multiplexed &&
           state_.ports[port_of_vl(ask)].input_busy) {
      ask = state_.ins[ask].next_ask;
    }
    return ask;
  };
  // Another VL opens a line with what is still to come, unless nothing comes any more.
  const bool ends = next_due() == kNever;
  std::vector<std::uint8_t> used(vls_, 0);  // by VL: anywhere in the net
  for (std::uint32_t at = 0; shared_way && at < port_vls; ++at) {
    if (state_.ins[at].abr != 0) used[vl_of(at)] = 1;
  }
  const auto is_in_use = [&](PortVl at) {
    return state_.ins[at].free != state_.ins[at].capacity || (!ends && used[vl_of(at)] != 0);
  };
  const auto is_passed_over = [&](PortVl waiting) {
    if (!shared_way) return false;
    const PortVl first = port_of_vl(waiting) * vls_;
    for (PortVl other = first; other < first + vls_; ++other) {
      if (other != waiting && moves[other] != 0 && is_in_use(other)) return true;
    }
    return false;
  };
  // What leaves together waits for room in all of its outputs; any one of them may be in a circle.
  const auto next = [&](std::uint32_t at, std::vector<std::uint32_t>& out) {
    const auto add = [&out](std::uint32_t to) {
      if (to != kNowhere) out.push_back(to);
    };
    out.clear();
    if (at >= port_vls) {
      const OutputVl& from = state_.outs[at - port_vls];
      if (from.head != kNowhere) add(waits_for_credit(at - port_vls, at - port_vls, from.head));
      return;
    }
    const InputVl& in = state_.ins[at];
    if (in.wants == kNowhere || in.busy) return;
    if (next_copy(packet(at, in.head)) == kNowhere) {
      std::uint32_t to = waits_for_way(at);
      if (to == kNowhere) {
        const PortVl before = served_next(in.wants);
        if (before != kNowhere && !is_passed_over(before)) to = waits_for_way(before);
      }
      return add(to);
    }
    for (PacketAt copy = in.head; copy != kNowhere; copy = next_copy(packet(at, copy))) {
      const DataPacket& first = packet(at, copy);
      if (!has_room(first)) add(port_vls + first.out);
    }
  };
  if (shared_way) {
    std::vector<std::uint32_t> ways;
    for (bool more = true; more;) {
      more = false;
      for (std::uint32_t at = 0; at < nodes; ++at) {
        if (moves[at] != 0) continue;
        next(at, ways);
        if (!std::ranges::all_of(ways, [&](std::uint32_t to) { return moves[to] != 0; })) continue;
        moves[at] = 1;
        more = true;
      }
    }
  }

  // Depth first. The line holds what is being looked at, and which of its ways comes next.
  struct Step {
    std::uint32_t at = 0;
    std::vector<std::uint32_t> ways{};
    std::size_t way = 0;
  };

  enum : std::uint8_t { kNew, kOnLine, kDone };

  std::vector<std::uint8_t> seen(nodes, kNew);
  std::vector<Step> line;
  const auto begin = [&](std::uint32_t at) {
    seen[at] = kOnLine;
    line.push_back({.at = at});
    next(at, line.back().ways);
  };
  for (std::uint32_t start = 0; start < port_vls; ++start) {
    if (seen[start] != kNew) continue;
    begin(start);
    while (!line.empty()) {
      Step& here = line.back();
      if (here.way == here.ways.size()) {
        seen[here.at] = kDone;
        line.pop_back();
        continue;
      }
      const std::uint32_t to = here.ways[here.way++];
      if (seen[to] == kNew) {
        begin(to);
        continue;
      }
      if (seen[to] != kOnLine) continue;
      std::vector<WaitingHop> circle;
      auto step = std::ranges::find(line, to, &Step::at);
      for (; step != line.end(); ++step) {
        if (step->at >= port_vls) continue;
        // Where it waits for room, that says the way out; else the line that it stands in.
        const std::uint32_t way = step->ways[step->way - 1];
        const PortVl wants = buffered ? way - port_vls : state_.ins[step->at].wants;
        const Wire& wire = wiring_.wires[port_of_vl(wants)];
        circle.push_back({.node = wire.node,
                          .port = PortNum{wire.number},
                          .vl = Vl{static_cast<std::uint8_t>(vl_of(wants))}});
      }
      return circle;
    }
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

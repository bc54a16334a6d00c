#include "sim-backend/packet/replication.h"

#include <algorithm>

#include "sim-backend/packet/congestion_point.h"
#include "sim-backend/packet/crossbar.h"
#include "sim-backend/packet/input_buffers.h"

namespace smd::sim {
namespace {

PacketAt make_copy(PartState& net, PacketAt of) {
  const PacketAt copy = net.take_packet();
  DataPacket& packet = net.packets[copy];
  packet = net.packets[of];
  packet.next = kNowhere;
  // Whoever leaves last gives the place in the buffer back.
  packet.copy_blocks = static_cast<std::uint8_t>(packet.blocks + packet.copy_blocks);
  packet.blocks = 0;
  net.origins[copy] = net.origins[of];
  ++net.stats.replicated;
  ++net.stats.in_flight;
  return copy;
}

/// Blocks of a buffer that a packet takes where it goes next.
unsigned needs(const DataPacket& packet) { return unsigned{packet.blocks} + packet.copy_blocks; }

bool can_cross(const PartState& net, PortVl from) {
  if (net.options.switches.multiplexed && net.ports[net.port_of_vl(from)].input_busy) return false;
  for (PacketAt at = net.ins[from].head; at != kNowhere; at = next_copy(net.packets[at])) {
    const DataPacket& packet = net.packets[at];
    if (net.ports[net.port_of_vl(packet.out)].cross_running) return false;
    if (net.outs[packet.out].room < needs(packet)) return false;
  }
  return true;
}

void cross_all(PartState& net, PortVl from) {
  const PacketAt first = take_input(net, from);
  net.ins[from].wants = kNowhere;
  for (PacketAt at = first; at != kNowhere;) {
    const PacketAt next = next_copy(net.packets[at]);
    set_next_copy(net.packets[at], kNowhere);
    const PortAt port = net.port_of_vl(net.packets[at].out);
    --net.ports[port].copies_wait;
    enter_output(net, from, at, port, net.vl_of(net.packets[at].out));
    at = next;
  }
}

}  // namespace

void replicate(PartState& net, PortAt port, PacketAt at) {
  const Wire& wire = net.wires[port];
  const PortMask mask = net.nodes[wire.node].tables.find_group(net.packets[at].dlid);
  std::vector<PartState::CopyOutput>& ways = net.copy_outputs;
  ways.clear();
  for (unsigned out = 1; out <= wire.last_number; ++out) {
    if ((mask[out / 64] >> (out % 64) & 1) == 0 || out == wire.number) continue;
    const unsigned vl = map_vl(net, port, at, out);
    ways.push_back({.out = out, .vl = vl, .fits = can_leave_by(net, port, at, out, vl)});
  }
  if (ways.empty()) return drop_input(net, at, Discard::Unroutable);
  // The packet itself leaves last: of those that can leave at all.
  std::ranges::stable_sort(ways, {}, &PartState::CopyOutput::fits);
  PacketAt first = kNowhere, last = kNowhere;
  for (std::size_t i = 0; i < ways.size(); ++i) {
    const PacketAt copy = i + 1 < ways.size() ? make_copy(net, at) : at;
    if (!leave_by(net, port, copy, ways[i].out, ways[i].vl)) continue;  // it was dropped
    if (net.hooks.marking != nullptr) mark_input(net, copy);
    if (first == kNowhere) {
      first = copy;
    } else {
      set_next_copy(net.packets[last], copy);
    }
    last = copy;
  }
  if (first == kNowhere) return;
  set_next_copy(net.packets[last], kNowhere);
  if (!net.options.switches.output_buffers) {
    // A fast link must not run out of what a slow one still brings: the fastest decides.
    Picos start = 0;
    for (PacketAt each = first; each != kNowhere; each = next_copy(net.packets[each])) {
      start = std::max(start, earliest_start(net, net.packets[each]));
    }
    if (start > net.now) {
      return net.push_packet(start, NetStep::Enqueue, port, net.ports[port].sequence++, first);
    }
  }
  store_copies(net, first);
}

void store_copies(PartState& net, PacketAt first) {
  if (net.options.switches.copies == CopyOrder::Together) {
    for (PacketAt at = first; at != kNowhere; at = next_copy(net.packets[at])) {
      net.packets[at].place = Place::Input;
    }
    return queue_input(net, first);
  }
  for (PacketAt at = first; at != kNowhere;) {
    const PacketAt next = next_copy(net.packets[at]);
    set_next_copy(net.packets[at], kNowhere);
    queue_input(net, at);
    at = next;
  }
}

void ask_together(PartState& net, PortVl from) {
  InputVl& in = net.ins[from];
  in.wants = net.packets[in.head].out;
  for (PacketAt at = in.head; at != kNowhere; at = next_copy(net.packets[at])) {
    ++net.ports[net.port_of_vl(net.packets[at].out)].copies_wait;
  }
  const std::uint32_t node = net.wires[net.port_of_vl(from)].node;
  net.nodes[node].copying.push_back(from);
  cross_together(net, node);
}

void cross_together(PartState& net, std::uint32_t node) {
  std::erase_if(net.nodes[node].copying, [&net](PortVl from) {
    if (!can_cross(net, from)) return false;
    cross_all(net, from);
    return true;
  });
}

void lose_copies(PartState& net, PacketAt first, std::uint32_t node, Discard cause) {
  for (PacketAt at = first; at != kNowhere;) {
    const PacketAt next = next_copy(net.packets[at]);
    net.lose(at, node, cause);
    net.free_packet(at);
    at = next;
  }
}

}  // namespace smd::sim

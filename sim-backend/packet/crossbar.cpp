#include "sim-backend/packet/crossbar.h"

#include <algorithm>

#include "sim-backend/packet/congestion_point.h"
#include "sim-backend/packet/flow_control.h"
#include "sim-backend/packet/input_buffers.h"
#include "sim-backend/packet/output_link.h"
#include "sim-backend/packet/replication.h"

namespace smd::sim {
namespace {

// Part of try_cross, which every packet passes at every switch: calls would cost it a fiftieth.

[[gnu::always_inline]] inline PacketAt leave_input(PartState& net, PortVl from) {
  InputVl& in = net.ins[from];
  const PacketAt at = pop_buffer(net, in);
  in.busy = true;
  in.moving = 0;
  NetPort& entry = net.ports[net.port_of_vl(from)];
  entry.input_busy = true;
  entry.last_vl = static_cast<std::uint8_t>(net.vl_of(from));
  return at;
}

[[gnu::always_inline]] inline void cross(
    PartState& net, PortVl from, PacketAt at, PortAt port, unsigned vl) {
  DataPacket& packet = net.packets[at];
  OutputVl& out = net.outs[port * net.vls + vl];
  NetPort& here = net.ports[port];
  const SwitchModel& sw = net.options.switches;
  InputVl& in = net.ins[from];
  ++in.crossing;
  in.moving = static_cast<std::uint16_t>(in.moving + packet.blocks);
  if (packet.tail > net.now) net.note_passing(from, packet.tail);
  packet.blocks = static_cast<std::uint8_t>(packet.blocks + packet.copy_blocks);
  packet.copy_blocks = 0;
  out.room = static_cast<std::uint16_t>(out.room - packet.blocks);
  if (net.hooks.marking != nullptr) mark_output(net, at);

  const Wire& wire = net.wires[port];
  // The last byte cannot cross before it is in.
  const Picos begin = net.now + sw.crossbar_setup;
  const Picos end = std::max(begin + transfer_time(wire.crossing_time, packet.bytes),
                             packet.tail + sw.crossbar_setup);
  // Nor may the link run out of bytes.
  const Picos took = transfer_time(wire.byte_time, packet.bytes);
  packet.ready =
      std::max(begin + transfer_time(wire.crossing_time, 1) + sw.link_arbitration, end - took);
  packet.tail = end;
  packet.place = Place::Output;
  packet.next = kNowhere;
  if (out.head == kNowhere) {
    out.head = at;
  } else {
    net.packets[out.tail].next = at;
  }
  out.tail = at;
  here.waiting = static_cast<std::uint16_t>(here.waiting | 1u << vl);
  here.cross_running = true;
  here.cross_vl = from;
  net.push(end, NetStep::CrossDone, port, here.serial);
  // Behind another packet, or where the link is busy for longer, the link's end finds it; but its
  // age counts.
  if (out.head == at &&
      (here.busy_until <= packet.ready || !here.link_running || net.options.lifetimes)) {
    net.wake_at(port, packet.ready);
  }
}

bool grant_cross(PartState& net, PortAt port, unsigned vl) {
  OutputVl& out = net.outs[port * net.vls + vl];
  PortVl before = kNowhere;
  for (PortVl at = out.asks_head; at != kNowhere; at = net.ins[at].next_ask) {
    const bool reachable =
        !net.options.switches.multiplexed || !net.ports[net.port_of_vl(at)].input_busy;
    if (reachable) {
      // Whole packets only; a smaller one behind does not overtake.
      if (out.room <
          net.packets[net.ins[at].head].blocks + net.packets[net.ins[at].head].copy_blocks)
        return false;
      remove_ask(net, out, before, at);
      if (out.asks_head == kNowhere) {
        net.ports[port].asking = static_cast<std::uint16_t>(net.ports[port].asking & ~(1u << vl));
      }
      cross(net, at, leave_input(net, at), port, vl);
      return true;
    }
    before = at;
  }
  return false;
}

}  // namespace

PacketAt take_input(PartState& net, PortVl from) { return leave_input(net, from); }

void enter_output(PartState& net, PortVl from, PacketAt at, PortAt port, unsigned vl) {
  cross(net, from, at, port, vl);
}

void try_cross(PartState& net, PortAt port) {
  NetPort& here = net.ports[port];
  if (here.cross_running) return;
  if (here.copies_wait > 0) cross_together(net, net.wires[port].node);
  if (here.cross_running || here.asking == 0) return;
  // VLs by turns; within one, inputs in the order in which they asked, or by age.
  for (unsigned step = 0; step < net.vls; ++step) {
    const unsigned vl = (here.next_vl + step) % net.vls;
    if ((here.asking >> vl & 1) == 0) continue;
    if (grant_cross(net, port, vl)) {
      here.next_vl = static_cast<std::uint8_t>((vl + 1) % net.vls);
      return;
    }
  }
}

void on_cross_done(PartState& net, PortAt port, std::uint16_t serial) {
  NetPort& here = net.ports[port];
  if (here.serial != serial) return;
  const PortVl from = here.cross_vl;
  here.cross_running = false;
  here.cross_vl = kNowhere;
  // Copies that left together: the last one out gives the place back.
  if (--net.ins[from].crossing == 0) input_freed(net, from);
  try_cross(net, port);
}

void input_freed(PartState& net, PortVl from) {
  InputVl& in = net.ins[from];
  const PortAt port = net.port_of_vl(from);
  const unsigned blocks = in.moving;
  in.moving = 0;
  in.busy = false;
  net.ports[port].input_busy = false;
  if (blocks > 0) release_blocks(net, from, blocks);
  serve_head(net, from);
  if (!net.options.switches.multiplexed) return;
  // Its other VLs may have waited for the way into the crossbar; the next one first.
  for (unsigned step = 1; step < net.vls && !net.ports[port].input_busy; ++step) {
    const InputVl& other = net.ins[port * net.vls + (net.ports[port].last_vl + step) % net.vls];
    if (other.wants == kNowhere) continue;
    const PortAt egress = net.port_of_vl(other.wants);
    if (net.options.switches.output_buffers) {
      try_cross(net, egress);
    } else {
      try_link(net, egress);
    }
  }
}

}  // namespace smd::sim

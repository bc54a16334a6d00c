#include "sim-backend/packet/input_buffers.h"

#include <algorithm>

#include "sim-backend/packet/congestion_point.h"
#include "sim-backend/packet/credits.h"
#include "sim-backend/packet/crossbar.h"
#include "sim-backend/packet/cut_packet.h"
#include "sim-backend/packet/flow_control.h"
#include "sim-backend/packet/output_link.h"
#include "sim-backend/packet/replication.h"
#include "sim-backend/packet/switch_port.h"
#include "smd/base/check.h"

namespace smd::sim {
namespace {

void append_input(PartState& net, PacketAt at) {
  DataPacket& packet = net.packets[at];
  if (!net.options.switches.output_buffers) {
    if (const Picos start = earliest_start(net, packet); start > net.now) {
      const PortAt port = net.port_of_vl(packet.in);
      return net.push_packet(start, NetStep::Enqueue, port, net.ports[port].sequence++, at);
    }
  }
  queue_input(net, at);
}

class QueuesOfPorts final : public PortFill {
 public:
  explicit QueuesOfPorts(const PartState& net) : net_(net) {}

  [[nodiscard]] unsigned used(std::uint32_t node, std::uint8_t number, unsigned vl) const override {
    const PortAt port = net_.wiring.port_of(node, number);
    if (net_.wires[port].peer == kNowhere) return 0;
    OutputVl& out = net_.outs[port * net_.vls + vl];
    take_credits(net_, out);
    const unsigned takes = input_capacity(net_.options, net_.wires[port].to_switch);
    unsigned blocks = takes - std::min(takes, credit_left(out.fccl, out.fctbs));
    if (net_.options.switches.output_buffers) {
      blocks += net_.options.switches.output_buffer_bytes / kBlockBytes - out.room;
      // The packet on the link has taken its credit already.
      const NetPort& here = net_.ports[port];
      if (here.link_running && here.link_vl == port * net_.vls + vl) blocks -= here.link_blocks;
    }
    return std::min(blocks, takes);
  }

 private:
  const PartState& net_;
};

std::uint64_t draw_of(std::uint64_t seed, HostNum source, std::uint32_t number, unsigned hops) {
  std::uint64_t word = seed;
  for (const std::uint64_t part : {std::uint64_t{source} << 32 | number, std::uint64_t{hops}}) {
    word = (word ^ part) + 0x9e3779b97f4a7c15u;
    word = (word ^ word >> 30) * 0xbf58476d1ce4e5b9u;
    word = (word ^ word >> 27) * 0x94d049bb133111ebu;
    word ^= word >> 31;
  }
  return word;
}

/// The way out and its VL as the route hook says; false where it says none.
bool ask_hook(PartState& net, PortAt port, PacketAt at, unsigned& out, unsigned& vl) {
  DataPacket& packet = net.packets[at];
  const Wire& wire = net.wires[port];
  const HostNum to = net.destination_of(packet);
  if (to == kNowhere) return false;
  const auto taken = net.route_choice->choose(
      {.node = wire.node,
       .in = wire.number,
       .in_vl = static_cast<std::uint8_t>(net.vl_of(packet.in)),
       .source = packet.source,
       .to = to,
       .dlid = packet.dlid,
       .sl = packet.sl,
       .hops = packet.hops,
       .via = packet.via,
       .phase = packet.phase,
       .draw = draw_of(net.options.seed, packet.source, net.origins[at].number, packet.hops)},
      QueuesOfPorts(net));
  if (!taken) return false;
  out = taken->out;
  vl = taken->vl;
  packet.via = taken->via;
  packet.phase = taken->phase;
  return true;
}

void forward(PartState& net, PortAt port, PacketAt at) {
  DataPacket& packet = net.packets[at];
  const Wire& wire = net.wires[port];
  if (is_multicast(packet.dlid)) return replicate(net, port, at);
  unsigned out = 0, vl = 0;
  if (net.route_choice == nullptr) {
    out = net.nodes[wire.node].tables.route(packet.dlid);
  } else if (!ask_hook(net, port, at, out, vl)) {
    return drop_input(net, at, Discard::Unroutable);
  }
  if (out > wire.last_number) return drop_input(net, at, Discard::Unroutable);
  if (out == wire.number && !net.options.switches.turns_back) {
    return drop_input(net, at, Discard::BackToInput);
  }
  if (out == 0) {
    if (net.switch_port_handler != nullptr) return take_in(net, port, at);
    return drop_input(net, at, Discard::WrongNode);
  }
  if (net.route_choice == nullptr) vl = map_vl(net, port, at, out);
  if (!leave_by(net, port, at, out, vl)) return;
  if (net.hooks.marking != nullptr) mark_input(net, at);
  append_input(net, at);
}

/// Behind those that are as old or older. Requires: somebody asks.
void ask_by_age(PartState& net, OutputVl& to, PortVl at) {
  const auto injected = [&net](PortVl in) { return net.origins[net.ins[in].head].injected; };
  PortVl before = kNowhere;
  for (PortVl other = to.asks_head; other != kNowhere && injected(other) <= injected(at);
       other = net.ins[other].next_ask) {
    before = other;
  }
  PortVl& link = before == kNowhere ? to.asks_head : net.ins[before].next_ask;
  net.ins[at].next_ask = link;
  link = at;
  if (net.ins[at].next_ask == kNowhere) to.asks_tail = at;
}

}  // namespace

Picos earliest_start(const PartState& net, const DataPacket& packet) {
  const PortAt egress = net.port_of_vl(packet.out);
  return packet.tail - transfer_time(net.wires[egress].byte_time, packet.bytes);
}

unsigned map_vl(const PartState& net, PortAt in, PacketAt at, unsigned out) {
  const Wire& wire = net.wires[in];
  return net.nodes[wire.node].tables.map_sl(wire.number, out, net.packets[at].sl);
}

bool can_leave_by(const PartState& net, PortAt in, PacketAt at, unsigned out, unsigned vl) {
  const NetPort& egress = net.ports[net.wires[in].first + out];
  return vl != kDiscardVl && vl < egress.vls && net.packets[at].payload <= egress.mtu;
}

bool leave_by(PartState& net, PortAt in, PacketAt at, unsigned out, unsigned vl) {
  DataPacket& packet = net.packets[at];
  const PortAt egress = net.wires[in].first + out;
  if (vl == kDiscardVl || vl >= net.ports[egress].vls) {
    drop_input(net, at, Discard::Unmappable);
    return false;
  }
  if (packet.payload > net.ports[egress].mtu) {
    drop_input(net, at, Discard::TooLong);
    return false;
  }
  packet.out = egress * net.vls + vl;
  return true;
}

void queue_input(PartState& net, PacketAt at) {
  DataPacket& packet = net.packets[at];
  InputVl& port_vl = net.ins[packet.in];
  packet.place = Place::Input;
  packet.next = kNowhere;
  if (port_vl.head == kNowhere) {
    port_vl.head = at;
  } else {
    net.packets[port_vl.tail].next = at;
  }
  port_vl.tail = at;
  if (port_vl.head == at && !port_vl.busy) serve_head(net, packet.in);
}

void on_arrive(PartState& net, PortAt port, PacketAt at) {
  DataPacket& packet = net.packets[at];
  const std::uint32_t node = net.wires[port].node;
  NetPort& here = net.ports[port];
  if (packet.epoch != here.epoch) {
    net.lose(at, node, Discard::OnTheWire);
    return net.free_packet(at);
  }
  InputVl& port_vl = net.ins[packet.in];
  // The sender counted its credits: this cannot overflow unless they were wrong.
  SMD_CHECK(port_vl.free >= packet.blocks, "a packet came for which there was no credit");
  port_vl.free = static_cast<std::uint16_t>(port_vl.free - packet.blocks);
  port_vl.abr = count_blocks(port_vl.abr, packet.blocks);
  const bool is_cut = packet.place == Place::Cut;
  packet.place = is_cut ? Place::Dead : Place::Pending;
  packet.epoch = here.serial;
  if (is_cut) return drop_cut(net, at);
  if (!here.takes()) {
    return drop_input(
        net, at, here.state == PortState::Down ? Discard::InactivePort : Discard::DeactivatedPort);
  }
  packet.entered = net.now;
  if (!net.options.switches.one_routing_unit) return forward(net, port, at);
  // The head is in; the switch's one routing unit takes packets one by one.
  NetNode& at_node = net.nodes[node];
  const Picos start = std::max(net.now, at_node.routing_free);
  at_node.routing_free = start + net.options.switches.routing;
  packet.ready = start + net.input_latency;
  net.push_packet(packet.ready, NetStep::Enqueue, port, here.sequence++, at);
}

void on_enqueue(PartState& net, PacketAt at) {
  DataPacket& packet = net.packets[at];
  const PortAt port = net.port_of_vl(packet.in);
  if (packet.epoch != net.ports[port].serial) {
    return lose_copies(net, at, net.wires[port].node, Discard::ClearedWithNode);
  }
  if (packet.place == Place::Dead) return drop_cut(net, at);
  if (packet.out == kNowhere) return forward(net, port, at);
  if (is_multicast(packet.dlid)) return store_copies(net, at);
  append_input(net, at);
}

void serve_head(PartState& net, PortVl at) {
  InputVl& port_vl = net.ins[at];
  while (port_vl.head != kNowhere) {
    DataPacket& packet = net.packets[port_vl.head];
    if (next_copy(packet) != kNowhere) return ask_together(net, at);
    const PortAt egress = net.port_of_vl(packet.out);
    NetPort& out = net.ports[egress];
    if (!net.options.switches.output_buffers && !out.sends()) {
      drop_input(net,
                 pop_buffer(net, port_vl),
                 out.state == PortState::Down ? Discard::InactivePort : Discard::DeactivatedPort);
      continue;
    }
    OutputVl& to = net.outs[packet.out];
    packet.ready = net.now;
    port_vl.wants = packet.out;
    port_vl.next_ask = kNowhere;
    if (to.asks_head == kNowhere) {
      to.asks_head = to.asks_tail = at;
    } else if (!net.options.switches.oldest_first) {
      net.ins[to.asks_tail].next_ask = at;
      to.asks_tail = at;
    } else {
      ask_by_age(net, to, at);
    }
    const auto bit = static_cast<std::uint16_t>(1u << net.vl_of(packet.out));
    if (net.options.switches.output_buffers) {
      out.asking |= bit;
      return try_cross(net, egress);
    }
    out.waiting |= bit;
    return try_link(net, egress);
  }
}

void drop_input(PartState& net, PacketAt at, Discard cause) {
  DataPacket& packet = net.packets[at];
  const PortAt port = net.port_of_vl(packet.in);
  net.lose(at, net.wires[port].node, cause);
  packet.place = Place::Dead;
  if (packet.tail > net.now) {
    return net.push_packet(packet.tail, NetStep::FreeInput, port, net.ports[port].sequence++, at);
  }
  on_free_input(net, at);
}

void on_free_input(PartState& net, PacketAt at) {
  const PortVl port_vl = net.packets[at].in;
  const unsigned blocks = net.packets[at].blocks;
  const bool here = net.packets[at].epoch == net.ports[net.port_of_vl(port_vl)].serial;
  net.free_packet(at);
  if (here && blocks > 0) release_blocks(net, port_vl, blocks);
}

Delivery describe_delivery(const PartState& net,
                           const Wire& wire,
                           PacketAt at,
                           HostNum destination) {
  const DataPacket& packet = net.packets[at];
  const Origin& origin = net.origins[at];
  return {.source = packet.source,
          .destination = destination,
          .generated = origin.generated,
          .injected = origin.injected,
          .head = net.now - transfer_time(wire.byte_time, packet.bytes),
          .tail = net.now,
          .tag = origin.tag,
          .number = origin.number,
          .payload = packet.payload,
          .dlid = packet.dlid,
          .sl = packet.sl,
          .hops = packet.hops,
          .marks = packet.marks,
          .partition = static_cast<std::uint8_t>(net.number)};
}

void on_deliver(PartState& net, PortAt port, PacketAt at) {
  const Wire& wire = net.wires[port];
  if (wire.on_switch) return on_taken_in(net, port, at);
  DataPacket& packet = net.packets[at];
  NetPort& here = net.ports[port];
  const bool arrived = packet.epoch == here.epoch;
  const HostNum host = net.wiring.host_of[port];
  const HostLid& own = net.host_lids[host];
  const bool owned = ((packet.dlid >> own.lmc) == (own.lid >> own.lmc) && own.lid != 0) ||
                     (packet.dlid == kByHostNumber && packet.to == host);
  if (!arrived || packet.place == Place::Cut || !here.takes() ||
      !(owned || is_multicast(packet.dlid))) {
    net.lose(at,
             wire.node,
             !arrived                        ? Discard::OnTheWire
             : here.state == PortState::Down ? Discard::InactivePort
             : !here.takes()                 ? Discard::DeactivatedPort
                                             : Discard::WrongNode);
    const PortVl port_vl = packet.in;
    const unsigned blocks = packet.blocks;
    net.free_packet(at);
    if (!arrived) return;
    net.ins[port_vl].abr = count_blocks(net.ins[port_vl].abr, blocks);
    return send_credit(net, port_vl);
  }
  const Delivery arrival = describe_delivery(net, wire, at, host);
  const DataPacket arrived_packet = packet;
  InputVl& port_vl = net.ins[packet.in];
  // Into memory at once: what comes in takes no room, but is counted.
  port_vl.abr = count_blocks(port_vl.abr, packet.blocks);
  send_credit(net, packet.in);
  net.free_packet(at);
  if (arrived_packet.feedback != FeedbackKind::None) {
    return on_feedback(net, arrival.destination, arrived_packet, arrival.tag);
  }
  ++net.stats.delivered;
  net.stats.delivered_bytes += arrival.payload;
  net.stats.marked += arrival.marks != 0;
  --net.stats.in_flight;
  net.stats.last_out = net.now;
  net.digest(std::uint64_t{arrival.destination} << 32 | arrival.source,
             static_cast<std::uint64_t>(arrival.generated));
  if (net.hooks.marking != nullptr && !net.hooks.marking->may_occur(arrival.marks)) {
    ++net.stats.impossible_marks;
  }
  if (net.hooks.echo != nullptr) send_answer(net, arrival.destination, arrived_packet);
  if (net.observer != nullptr) net.observer->on_delivered(arrival);
  if (net.workload != nullptr) net.workload->on_delivered(net.self, arrival);
}

void clear_input(PartState& net, PortVl port_vl) {
  InputVl& in = net.ins[port_vl];
  const std::uint32_t node = net.wires[net.port_of_vl(port_vl)].node;
  while (in.head != kNowhere) {
    lose_copies(net, pop_buffer(net, in), node, Discard::ClearedWithNode);
  }
  in.next_ask = in.wants = kNowhere;
  in.free = in.capacity;
  in.moving = 0;
  in.crossing = 0;
  in.busy = false;
}

}  // namespace smd::sim

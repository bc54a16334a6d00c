#include "sim-backend/packet/switch_port.h"

#include <algorithm>

#include "sim-backend/packet/credits.h"
#include "sim-backend/packet/flow_control.h"
#include "sim-backend/packet/input_buffers.h"
#include "smd/base/check.h"

namespace smd::sim {

void take_in(PartState& net, PortAt in, PacketAt at) {
  const Picos whole = std::max(net.now, net.packets[at].tail);
  net.push_packet(whole, NetStep::Deliver, in, net.ports[in].sequence++, at);
}

void on_taken_in(PartState& net, PortAt in, PacketAt at) {
  const DataPacket packet = net.packets[at];
  const Wire& wire = net.wires[in];
  if (packet.epoch != net.ports[in].serial) {
    net.lose(at, wire.node, Discard::ClearedWithNode);
    return net.free_packet(at);
  }
  if (packet.place == Place::Dead) {
    net.free_packet(at);
    return release_blocks(net, packet.in, packet.blocks);
  }
  const Delivery arrival = describe_delivery(net, wire, at, kNowhere);
  net.free_packet(at);
  release_blocks(net, packet.in, packet.blocks);
  ++net.stats.taken_in;
  --net.stats.in_flight;
  net.stats.last_out = net.now;
  net.digest(std::uint64_t{wire.node} << 32 | arrival.source,
             static_cast<std::uint64_t>(arrival.generated));
  net.switch_port_handler->on_taken_in(net.self, wire.node, arrival);
}

void send_from_switch(PartState& net, const SwitchSending& sending) {
  SMD_CHECK(net.wiring.is_switch[sending.node] != 0 && sending.ready >= net.now,
            "a switch sends from its port 0, and not in the past");
  const PortAt port = net.wiring.port_of(sending.node, 0);
  const PacketRequest& what = sending.packet;
  const PacketAt at = net.take_packet();
  const Picos ready = sending.ready + net.input_latency;
  net.origins[at] = {.generated = net.now, .injected = sending.ready, .tag = what.tag};
  DataPacket& packet = net.packets[at];
  packet.tail = packet.entered = packet.ready = ready;
  packet.in = port * net.vls;
  packet.source = sending.source;
  packet.bytes = static_cast<std::uint16_t>(what.payload + net.options.links.header_bytes);
  packet.payload = what.payload;
  packet.dlid = what.dlid.value();
  packet.epoch = net.ports[port].serial;
  packet.sl = what.sl;
  packet.copy_blocks = static_cast<std::uint8_t>(blocks_of(what.payload));
  packet.place = Place::Pending;
  ++net.stats.generated;
  net.stats.wanted_bytes += std::uint64_t{packet.bytes} * what.copies;
  ++net.stats.injected;
  ++net.stats.in_flight;
  const unsigned out = sending.out.value();
  if (out > 0 && !leave_by(net, port, at, out, map_vl(net, port, at, out))) return;
  net.push_packet(ready, NetStep::Enqueue, port, net.ports[port].sequence++, at);
}

}  // namespace smd::sim

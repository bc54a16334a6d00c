#include "sim-backend/packet/vl15.h"

#include <algorithm>

namespace smd::sim {

bool send_vl15(
    PartState& net, PortAt port, unsigned bytes, Picos ready, Picos tail_in, std::uint64_t cookie) {
  NetPort& here = net.ports[port];
  PortExtra& extra = net.extras[port];
  // Adapters have them in memory until it is their turn.
  const unsigned most = net.is_switch_port(port) ? net.options.switches.vl15_buffer_bytes : 0;
  const bool full = most > 0 && extra.management_bytes + bytes > most;
  if (here.state == PortState::Down || full) {
    ++net.stats.vl15_dropped;
    if (full) ++net.stats.discarded[static_cast<std::size_t>(Discard::OutputOverflow)];
    return false;
  }
  if (net.free_management == kNowhere) {
    net.management.emplace_back();
    net.free_management = static_cast<PacketAt>(net.management.size() - 1);
  }
  const PacketAt at = net.free_management;
  ManagementPacket& packet = net.management[at];
  net.free_management = packet.next;
  // The link must not run out of bytes that a slow input still brings.
  const Picos took = transfer_time(net.wires[port].byte_time, bytes);
  packet = {.cookie = cookie, .ready = std::max(ready, tail_in - took), .bytes = bytes};
  if (here.management_head == kNowhere) {
    here.management_head = at;
  } else {
    net.management[extra.management_tail].next = at;
  }
  extra.management_tail = at;
  extra.management_bytes = (extra.management_bytes + bytes) & kManagementMask;
  net.wake_at(port, std::max(packet.ready, net.now));
  return true;
}

Picos vl15_due(const PartState& net, PortAt port) {
  return std::max(net.now, net.ports[port].busy_until) + net.wires[port].propagation;
}

bool try_management(PartState& net, PortAt port) {
  NetPort& here = net.ports[port];
  PortExtra& extra = net.extras[port];
  const PacketAt at = here.management_head;
  ManagementPacket& packet = net.management[at];
  if (packet.ready > net.now) {
    net.wake_at(port, packet.ready);
    return false;
  }
  const Wire& wire = net.wires[port];
  here.management_head = packet.next;
  if (here.management_head == kNowhere) extra.management_tail = kNowhere;
  extra.management_bytes = (extra.management_bytes - packet.bytes) & kManagementMask;
  const Picos begin = std::max(net.now, here.busy_until);
  here.busy_until = begin + transfer_time(wire.byte_time, packet.bytes);
  here.link_running = true;
  here.link_vl = kNowhere;
  here.sent_bytes += packet.bytes;
  net.push(here.busy_until, NetStep::LinkDone, port, here.serial);
  packet.epoch = here.epoch;
  packet.tail = here.busy_until + wire.propagation;
  ++net.stats.vl15_sent;
  net.push(begin + wire.propagation, NetStep::Management, wire.peer, at);
  if (net.management_handler != nullptr) {
    net.management_handler->on_sent(packet.cookie, begin + wire.propagation);
  }
  return true;
}

void on_management(PartState& net, PortAt port, PacketAt at) {
  const ManagementPacket packet = net.management[at];
  net.management[at].next = net.free_management;
  net.free_management = at;
  if (net.management_handler == nullptr) return;
  if (packet.epoch != net.ports[port].epoch) return net.management_handler->on_lost(packet.cookie);
  const Wire& wire = net.wires[port];
  net.management_handler->on_head(
      packet.cookie, wire.node, PortNum{wire.number}, net.now, packet.tail);
}

void drop_management(PartState& net, PortAt port) {
  NetPort& here = net.ports[port];
  PortExtra& extra = net.extras[port];
  while (here.management_head != kNowhere) {
    const PacketAt at = here.management_head;
    here.management_head = net.management[at].next;
    net.management[at].next = net.free_management;
    net.free_management = at;
    if (net.management_handler != nullptr)
      net.management_handler->on_lost(net.management[at].cookie);
  }
  extra.management_tail = kNowhere;
  extra.management_bytes = 0;
}

}  // namespace smd::sim

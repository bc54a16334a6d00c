#include "sim-backend/packet/cut_packet.h"

#include <algorithm>
#include <vector>

#include "sim-backend/packet/crossbar.h"
#include "sim-backend/packet/input_buffers.h"
#include "sim-backend/packet/output_link.h"

namespace smd::sim {
namespace {

struct Found {
  PartState* net = nullptr;
  PacketAt at = kNowhere;

  [[nodiscard]] DataPacket& packet() const { return net->packets[at]; }
};

/// Packets with this port as their way in, of the places asked for. A look at all packets: links
/// seldom drop.
template <class Wanted>
std::vector<Found> find_packets(std::span<PartState* const> parts, PortAt port, Wanted wanted) {
  std::vector<Found> out;
  for (PartState* net : parts) {
    const auto count = static_cast<PacketAt>(net->packets.size());
    for (PacketAt at = 0; at < count; ++at) {
      const DataPacket& packet = net->packets[at];
      if (packet.place == Place::Free || packet.place == Place::Source) continue;
      if (packet.in / net->vls == port && wanted(packet)) out.push_back({net, at});
    }
  }
  // Places in the pool must not show; copies of one packet leave by different ports.
  std::ranges::sort(out, {}, [](const Found& each) { return each.packet().out; });
  return out;
}

void mark_cut(const Found& found, std::uint32_t node) {
  found.net->lose(found.at, node, Discard::OnTheWire);
  DataPacket& packet = found.packet();
  if (packet.place == Place::Wire) {
    packet.place = Place::Cut;
    return;
  }
  packet.place = Place::Dead;
  packet.tail = found.net->now;  // no more will come
}

/// The first packet of an input VL, or its copies, no longer asks for its way out.
void withdraw(PartState& net, PortVl from) {
  InputVl& in = net.ins[from];
  if (in.wants == kNowhere) return;
  const std::uint32_t node = net.wires[net.port_of_vl(from)].node;
  if (next_copy(net.packets[in.head]) != kNowhere) {
    for (PacketAt at = in.head; at != kNowhere; at = next_copy(net.packets[at])) {
      --net.ports[net.port_of_vl(net.packets[at].out)].copies_wait;
    }
    std::erase(net.nodes[node].copying, from);
    in.wants = kNowhere;
    return;
  }
  const PortVl wanted = in.wants;
  OutputVl& out = net.outs[wanted];
  PortVl before = kNowhere;
  for (PortVl ask = out.asks_head; ask != from; ask = net.ins[ask].next_ask) before = ask;
  remove_ask(net, out, before, from);
  if (out.asks_head != kNowhere) return;
  NetPort& egress = net.ports[net.port_of_vl(wanted)];
  const auto others = static_cast<std::uint16_t>(~(1u << net.vl_of(wanted)));
  if (net.options.switches.output_buffers) {
    egress.asking &= others;
    return;
  }
  egress.waiting &= others;
  egress.held &= others;
  if (egress.waiting == 0) net.end_blocking(net.port_of_vl(wanted));
}

/// Out of an input buffer, where it was the last to come.
void drop_from_input(PartState& net, PortVl from) {
  InputVl& in = net.ins[from];
  PacketAt last = kNowhere;
  PacketAt cut = in.head;
  while (cut != kNowhere && net.packets[cut].place != Place::Dead) {
    last = cut;
    cut = net.packets[cut].next;
  }
  if (cut == kNowhere) return;
  const PortVl wanted = cut == in.head ? in.wants : kNowhere;
  if (cut == in.head) withdraw(net, from);
  (last == kNowhere ? in.head : net.packets[last].next) = kNowhere;
  in.tail = last;
  while (cut != kNowhere) {
    const PacketAt next = net.packets[cut].next;
    drop_cut(net, cut);
    cut = next;
  }
  if (wanted == kNowhere) return;
  // Others stood in line behind it.
  const PortAt egress = net.port_of_vl(wanted);
  try_cross(net, egress);
  try_link(net, egress);
}

/// Out of an output buffer that it is crossing to; the crossbar stays busy until it would have
/// been over.
void drop_from_output(PartState& net, PacketAt at) {
  const PortVl port_vl = net.packets[at].out;
  OutputVl& out = net.outs[port_vl];
  PacketAt before = kNowhere;
  for (PacketAt each = out.head; each != at; each = net.packets[each].next) before = each;
  (before == kNowhere ? out.head : net.packets[before].next) = net.packets[at].next;
  if (out.tail == at) out.tail = before;
  out.room = static_cast<std::uint16_t>(out.room + net.packets[at].blocks);
  net.free_packet(at);
  if (out.head != kNowhere) return;
  NetPort& here = net.ports[net.port_of_vl(port_vl)];
  const unsigned bit = 1u << net.vl_of(port_vl);
  here.waiting = static_cast<std::uint16_t>(here.waiting & ~bit);
  here.held = static_cast<std::uint16_t>(here.held & ~bit);
  if (here.waiting == 0) net.end_blocking(net.port_of_vl(port_vl));
}

/// What is coming in at `port`, counted as lost at `where`.
void cut_at(std::span<PartState* const> parts, PortAt port, std::uint32_t where) {
  const std::uint32_t node = parts[0]->wires[port].node;
  if (!parts[0]->is_switch_port(port) || !parts[0]->nodes[node].on) return;
  PartState& net = *parts[parts[0]->part_of_node[node]];
  // Where it still stands at this node.
  std::vector<Found> found = find_packets(parts, port, [&](const DataPacket& packet) {
    const bool stands = packet.place == Place::Pending || packet.place == Place::Input;
    return stands && packet.epoch == net.ports[port].serial && packet.tail > net.now;
  });
  for (const Found& each : found) mark_cut(each, where);
  for (unsigned vl = 0; vl < net.vls; ++vl) drop_from_input(net, port * net.vls + vl);

  // And where it has begun to leave: of copies each on its own way.
  PortExtra& extra = net.extras[port];
  if (extra.passing_until <= net.now) return;
  extra.passing_until = 0;
  const PortVl from = port * net.vls + extra.passing_vl;
  for (unsigned number = 1; number <= net.wires[port].last_number; ++number) {
    const PortAt egress = net.wires[port].first + number;
    const NetPort& out = net.ports[egress];
    const bool passes = net.options.switches.output_buffers
                            ? out.cross_running && out.cross_vl == from
                            : out.link_running && out.link_vl == from;
    if (!passes) continue;
    found = find_packets(parts, port, [&](const DataPacket& packet) {
      return packet.place == Place::Output && packet.in == from &&
             net.port_of_vl(packet.out) == egress && packet.tail > net.now;
    });
    if (!found.empty()) {
      mark_cut(found[0], where);
      drop_from_output(net, found[0].at);
      continue;
    }
    // It is what went onto the link last.
    const PortAt peer = net.wires[egress].peer;
    if (peer == kNowhere) continue;
    found = find_packets(parts, peer, [&](const DataPacket& packet) {
      return packet.place == Place::Wire && packet.epoch == net.ports[peer].epoch;
    });
    if (found.empty()) {
      cut_at(parts, peer, where);
      continue;
    }
    mark_cut(
        *std::ranges::max_element(found, {}, [](const Found& each) { return each.packet().tail; }),
        where);
  }
}

}  // namespace

void drop_cut(PartState& net, PacketAt at) {
  while (at != kNowhere) {
    const PacketAt next = next_copy(net.packets[at]);
    drop_input(net, at, Discard::OnTheWire);
    at = next;
  }
}

void cut_incoming(std::span<PartState* const> parts, PortAt port) {
  cut_at(parts, port, parts[0]->wires[port].node);
}

}  // namespace smd::sim

// On fabrics whose state is larger than the processor's caches most of the time goes by waiting for
// memory. The events of a bucket are known together, so what they will touch is asked for together,
// in three rounds, since where the next thing lies stands in the one before. Nothing here changes
// what happens: what is asked for in vain, because an event before it moves things, is only late.
#include "sim-backend/packet/net_part.h"

namespace smd::sim {
namespace {

template <class T>
void ask_for(const T& value) {
  __builtin_prefetch(&value, 1);
}

}  // namespace

void look_ahead(const PartState& net, std::span<const Event> soon) {
  const bool by_tables = net.route_choice == nullptr;  // what a rule will say is not known yet
  for (const Event& event : soon) {
    switch (step_of(event)) {
      case NetStep::Deliver:
        ask_for(net.origins[packet_of(event)]);
        [[fallthrough]];
      case NetStep::Arrive:
        ask_for(net.packets[packet_of(event)]);
        ask_for(net.ports[port_of(event)]);
        ask_for(net.wires[port_of(event)]);
        ask_for(net.ins[port_of(event) * net.vls]);
        break;
      case NetStep::LinkDone:
      case NetStep::CrossDone:
      case NetStep::Wake:
        ask_for(net.ports[index_of(event)]);
        ask_for(net.outs[index_of(event) * net.vls]);
        ask_for(net.wires[index_of(event)]);
        break;
      default:
        break;
    }
  }
  for (const Event& event : soon) {
    switch (step_of(event)) {
      case NetStep::Arrive: {
        if (!by_tables) break;
        const NodeTables& tables = net.nodes[net.wires[port_of(event)].node].tables;
        const std::uint8_t* entry = tables.entry_of(net.packets[packet_of(event)].dlid);
        if (entry != nullptr) ask_for(*entry);
        break;
      }
      case NetStep::Deliver: {
        const PortAt peer = net.wires[port_of(event)].peer;
        if (peer != kNowhere) ask_for(net.outs[peer * net.vls]);
        break;
      }
      case NetStep::CrossDone: {
        const PortVl from = net.ports[index_of(event)].cross_vl;
        if (from == kNowhere) break;
        ask_for(net.ins[from]);
        ask_for(net.ports[net.port_of_vl(from)]);
        ask_for(net.wires[net.port_of_vl(from)]);
        break;
      }
      case NetStep::LinkDone:
      case NetStep::Wake: {
        const PacketAt head = net.outs[index_of(event) * net.vls].head;
        if (head < net.packets.size()) ask_for(net.packets[head]);
        break;
      }
      default:
        break;
    }
  }
  for (const Event& event : soon) {
    switch (step_of(event)) {
      case NetStep::Arrive: {
        if (!by_tables) break;
        const Wire& wire = net.wires[port_of(event)];
        const unsigned out = net.nodes[wire.node].tables.route(net.packets[packet_of(event)].dlid);
        if (out > wire.last_number) break;
        const PortAt egress = wire.first + out;
        ask_for(net.ports[egress]);
        ask_for(net.outs[egress * net.vls]);
        ask_for(net.wires[egress]);
        break;
      }
      case NetStep::CrossDone: {
        const PortVl from = net.ports[index_of(event)].cross_vl;
        if (from == kNowhere) break;
        const PortAt peer = net.wires[net.port_of_vl(from)].peer;
        if (peer != kNowhere) ask_for(net.outs[peer * net.vls]);
        if (net.ins[from].head != kNowhere) ask_for(net.packets[net.ins[from].head]);
        break;
      }
      default:
        break;
    }
  }
}

}  // namespace smd::sim

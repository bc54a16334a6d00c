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

void NetPart::look_ahead(std::span<const Event> soon) const {
  for (const Event& event : soon) {
    switch (step_of(event)) {
      case NetStep::Deliver:
        ask_for(origins_[cell_of(event)]);
        [[fallthrough]];
      case NetStep::Arrive:
        ask_for(cells_[cell_of(event)]);
        ask_for(ports_[port_of(event)]);
        ask_for(wiring_.wires[port_of(event)]);
        ask_for(ins_[port_of(event) * vls_]);
        break;
      case NetStep::LinkDone:
      case NetStep::CrossDone:
      case NetStep::Wake:
        ask_for(ports_[index_of(event)]);
        ask_for(outs_[index_of(event) * vls_]);
        ask_for(wiring_.wires[index_of(event)]);
        break;
      default:
        break;
    }
  }
  for (const Event& event : soon) {
    switch (step_of(event)) {
      case NetStep::Arrive:
        ask_for_route(cells_[cell_of(event)], port_of(event));
        break;
      case NetStep::Deliver: {
        const PortAt peer = wiring_.wires[port_of(event)].peer;
        if (peer != kNowhere) ask_for(outs_[peer * vls_]);
        break;
      }
      case NetStep::CrossDone: {
        const LaneAt from = ports_[index_of(event)].cross_lane;
        if (from == kNowhere) break;
        ask_for(ins_[from]);
        ask_for(ports_[port_of_lane(from)]);
        ask_for(wiring_.wires[port_of_lane(from)]);
        break;
      }
      case NetStep::LinkDone:
      case NetStep::Wake: {
        const CellAt head = outs_[index_of(event) * vls_].head;
        if (head < cells_.size()) ask_for(cells_[head]);
        break;
      }
      default:
        break;
    }
  }
  for (const Event& event : soon) {
    switch (step_of(event)) {
      case NetStep::Arrive: {
        const Wire& wire = wiring_.wires[port_of(event)];
        const unsigned out = nodes_[wire.node].tables.route(cells_[cell_of(event)].dlid);
        if (out > wire.last_number) break;
        const PortAt exit = wire.first + out;
        ask_for(ports_[exit]);
        ask_for(outs_[exit * vls_]);
        ask_for(wiring_.wires[exit]);
        break;
      }
      case NetStep::CrossDone: {
        const LaneAt from = ports_[index_of(event)].cross_lane;
        if (from == kNowhere) break;
        const PortAt peer = wiring_.wires[port_of_lane(from)].peer;
        if (peer != kNowhere) ask_for(outs_[peer * vls_]);
        if (ins_[from].head != kNowhere) ask_for(cells_[ins_[from].head]);
        break;
      }
      default:
        break;
    }
  }
}

void NetPart::ask_for_route(const Cell& cell, PortAt port) const {
  const NodeTables& tables = nodes_[wiring_.wires[port].node].tables;
  if (const std::uint8_t* entry = tables.entry_of(cell.dlid)) ask_for(*entry);
}

}  // namespace smd::sim

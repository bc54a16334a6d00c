// The crossbar of a switch with output buffers: who crosses next to a port.
#include "sim-backend/packet/net_part.h"

namespace smd::sim {

CellAt NetPart::pop_input(InLane& lane) {
  const CellAt at = lane.head;
  lane.head = cells_[at].next;
  if (lane.head == kNowhere) lane.tail = kNowhere;
  return at;
}

/// Takes an input lane out of the line for an output lane; `before` stands before it, or is
/// kNowhere.
void NetPart::remove_ask(OutLane& out, LaneAt before, LaneAt at) {
  const LaneAt after = ins_[at].next_ask;
  if (before == kNowhere) {
    out.asks_head = after;
  } else {
    ins_[before].next_ask = after;
  }
  if (out.asks_tail == at) out.asks_tail = before;
  ins_[at].next_ask = kNowhere;
  ins_[at].wants = kNowhere;
}

void NetPart::try_cross(PortAt port) {
  NetPort& here = ports_[port];
  if (here.cross_running || here.asking == 0) return;
  // VLs by turns; within one, inputs in the order in which they asked.
  for (unsigned step = 0; step < vls_; ++step) {
    const unsigned vl = (here.next_vl + step) % vls_;
    if ((here.asking >> vl & 1) == 0) continue;
    if (grant_cross(port, vl)) {
      here.next_vl = static_cast<std::uint8_t>((vl + 1) % vls_);
      return;
    }
  }
}

bool NetPart::grant_cross(PortAt port, unsigned vl) {
  OutLane& out = outs_[port * vls_ + vl];
  LaneAt before = kNowhere;
  for (LaneAt at = out.asks_head; at != kNowhere; at = ins_[at].next_ask) {
    const bool reachable = !options_.switches.multiplexed || !ports_[port_of_lane(at)].input_busy;
    if (reachable) {
      // Whole packets only; a smaller one behind does not overtake.
      if (out.room < cells_[ins_[at].head].blocks + cells_[ins_[at].head].copy_blocks) return false;
      remove_ask(out, before, at);
      if (out.asks_head == kNowhere) {
        ports_[port].asking = static_cast<std::uint16_t>(ports_[port].asking & ~(1u << vl));
      }
      start_cross(at, port, vl);
      return true;
    }
    before = at;
  }
  return false;
}

void NetPart::start_cross(LaneAt from, PortAt port, unsigned vl) {
  InLane& in = ins_[from];
  OutLane& out = outs_[port * vls_ + vl];
  NetPort& here = ports_[port];
  const SwitchModel& sw = options_.switches;
  const CellAt at = pop_input(in);
  Cell& cell = cells_[at];
  in.busy = true;
  in.moving = cell.blocks;
  NetPort& entry = ports_[port_of_lane(from)];
  entry.input_busy = true;
  entry.last_vl = static_cast<std::uint8_t>(vl_of_lane(from));
  cell.blocks = static_cast<std::uint8_t>(cell.blocks + cell.copy_blocks);
  cell.copy_blocks = 0;
  out.room = static_cast<std::uint16_t>(out.room - cell.blocks);
  if (hooks_.marking != nullptr) mark_output(at);

  const Wire& wire = wiring_.wires[port];
  // The last byte cannot cross before it is in.
  const Picos begin = now_ + sw.crossbar_setup;
  const Picos end = std::max(begin + transfer_time(wire.crossing_time, cell.bytes),
                             cell.tail + sw.crossbar_setup);
  // Nor may the link run out of bytes.
  const Picos took = transfer_time(wire.byte_time, cell.bytes);
  cell.ready =
      std::max(begin + transfer_time(wire.crossing_time, 1) + sw.link_arbitration, end - took);
  cell.tail = end;
  cell.place = Place::Output;
  cell.next = kNowhere;
  if (out.head == kNowhere) {
    out.head = at;
  } else {
    cells_[out.tail].next = at;
  }
  out.tail = at;
  here.waiting = static_cast<std::uint16_t>(here.waiting | 1u << vl);
  here.cross_running = true;
  here.cross_lane = from;
  push(end, NetStep::CrossDone, port, here.serial);
  // Behind another packet, or where the link is busy for longer, the link's end finds it.
  if (out.head == at && (here.busy_until <= cell.ready || !here.link_running)) {
    wake_at(port, cell.ready);
  }
}

void NetPart::on_cross_done(PortAt port, std::uint16_t serial) {
  NetPort& here = ports_[port];
  if (here.serial != serial) return;
  const LaneAt from = here.cross_lane;
  here.cross_running = false;
  here.cross_lane = kNowhere;
  input_freed(from);
  try_cross(port);
}

/// The packet that was leaving an input lane is out.
void NetPart::input_freed(LaneAt from) {
  InLane& in = ins_[from];
  const PortAt port = port_of_lane(from);
  const unsigned blocks = in.moving;
  in.moving = 0;
  in.busy = false;
  ports_[port].input_busy = false;
  if (blocks > 0) release(from, blocks);
  serve_head(from);
  if (!options_.switches.multiplexed) return;
  // Its other VLs may have waited for the way into the crossbar; the next one first.
  for (unsigned step = 1; step < vls_ && !ports_[port].input_busy; ++step) {
    const InLane& other = ins_[port * vls_ + (ports_[port].last_vl + step) % vls_];
    if (other.wants == kNowhere) continue;
    const PortAt exit = port_of_lane(other.wants);
    if (options_.switches.output_buffers) {
      try_cross(exit);
    } else {
      try_link(exit);
    }
  }
}

}  // namespace smd::sim

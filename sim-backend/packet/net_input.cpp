// What comes in: the relay of a switch and its input buffers, and the end of the way at an adapter.
#include <bit>

#include "sim-backend/packet/credits.h"
#include "sim-backend/packet/net_part.h"
#include "smd/base/check.h"

namespace smd::sim {
namespace {

constexpr std::uint16_t kFirstMulticast = 0xC000;
constexpr unsigned kDiscardVl = 15;

bool is_multicast(std::uint16_t dlid) { return dlid >= kFirstMulticast && dlid != 0xFFFF; }

}  // namespace

void NetPart::on_arrive(PortAt port, CellAt at) {
  Cell& cell = cells_[at];
  const std::uint32_t node = wiring_.wires[port].node;
  NetPort& here = ports_[port];
  if (cell.epoch != here.epoch) {
    lose(at, node, Discard::OnTheWire);
    return free_cell(at);
  }
  InLane& lane = ins_[cell.in];
  // The sender counted its credits: this cannot overflow unless they were wrong.
  SMD_CHECK(lane.free >= cell.blocks, "a packet came for which there was no credit");
  lane.free = static_cast<std::uint16_t>(lane.free - cell.blocks);
  lane.abr = count_blocks(lane.abr, cell.blocks);
  cell.place = Place::Pending;
  cell.epoch = here.serial;
  if (!here.takes()) {
    return drop_input(
        at, here.state == PortState::Down ? Discard::InactivePort : Discard::DeactivatedPort);
  }
  cell.entered = now_;
  if (!options_.switches.one_routing_unit) return forward(port, at);
  // The head is in; the switch's one routing unit takes packets one by one.
  NetNode& at_node = nodes_[node];
  const Picos start = std::max(now_, at_node.routing_free);
  at_node.routing_free = start + options_.switches.routing;
  cell.ready = start + input_latency_;
  push_cell(cell.ready, NetStep::Enqueue, port, here.sequence++, at);
}

void NetPart::forward(PortAt port, CellAt at) {
  Cell& cell = cells_[at];
  const Wire& wire = wiring_.wires[port];
  if (is_multicast(cell.dlid)) return replicate(port, at);
  const unsigned out = nodes_[wire.node].tables.route(cell.dlid);
  if (out > wire.last_number) return drop_input(at, Discard::Unroutable);
  if (out == wire.number && !options_.switches.turns_back) {
    return drop_input(at, Discard::BackToInput);
  }
  // Switches are no end of data's way here.
  if (out == 0) return drop_input(at, Discard::WrongNode);
  if (!choose_lane(port, at, out)) return;
  if (hooks_.marking != nullptr) mark_input(at);
  append_input(at);
}

/// Sets where it leaves; false when it cannot: then it is dropped.
bool NetPart::choose_lane(PortAt in, CellAt at, unsigned out) {
  Cell& cell = cells_[at];
  const Wire& wire = wiring_.wires[in];
  const PortAt exit = wire.first + out;
  const unsigned vl = nodes_[wire.node].tables.map_sl(wire.number, out, cell.sl);
  if (vl == kDiscardVl || vl >= ports_[exit].vls) {
    drop_input(at, Discard::Unmappable);
    return false;
  }
  if (cell.payload > ports_[exit].mtu) {
    drop_input(at, Discard::TooLong);
    return false;
  }
  cell.out = exit * vls_ + vl;
  return true;
}

/// One copy for each port of the group, one after the other in the input buffer, which they leave
/// together with the last.
void NetPart::replicate(PortAt port, CellAt at) {
  const Wire& wire = wiring_.wires[port];
  PortMask mask = nodes_[wire.node].tables.find_group(cells_[at].dlid);
  mask[wire.number / 64] &= ~(std::uint64_t{1} << (wire.number % 64));
  mask[0] &= ~std::uint64_t{1};
  CellAt last = kNowhere;  // the cell that goes on: the original, for the last port
  unsigned left = 0;
  for (const std::uint64_t word : mask) left += static_cast<unsigned>(std::popcount(word));
  if (left == 0) return drop_input(at, Discard::Unroutable);
  for (unsigned number = 1; number <= wire.last_number; ++number) {
    if ((mask[number / 64] >> (number % 64) & 1) == 0) continue;
    CellAt copy = at;
    if (--left > 0) {
      copy = take_cell();
      const CellAt rest = cells_[copy].next;
      cells_[copy] = cells_[at];
      cells_[copy].next = rest;
      origins_[copy] = origins_[at];
      cells_[copy].copy_blocks = cells_[at].blocks;
      cells_[copy].blocks = 0;
      ++stats_.replicated;
      ++stats_.in_flight;
    }
    if (choose_lane(port, copy, number)) {
      if (hooks_.marking != nullptr) mark_input(copy);
      append_input(copy);
    }
    last = copy;
    if (left == 0) break;
  }
  SMD_CHECK(last == at, "a group names a port that the switch does not have");
}

void NetPart::on_enqueue(CellAt at) {
  Cell& cell = cells_[at];
  const PortAt port = port_of_lane(cell.in);
  if (cell.epoch != ports_[port].serial) {
    lose(at, wiring_.wires[port].node, Discard::ClearedWithNode);
    return free_cell(at);
  }
  if (cell.out == kNowhere) return forward(port, at);
  append_input(at);
}

void NetPart::append_input(CellAt at) {
  Cell& cell = cells_[at];
  const PortAt exit = port_of_lane(cell.out);
  if (!options_.switches.output_buffers) {
    // A fast link must not run out of what a slow one still brings.
    const Picos start = cell.tail - transfer_time(wiring_.wires[exit].byte_time, cell.bytes);
    if (start > now_) {
      const PortAt port = port_of_lane(cell.in);
      return push_cell(start, NetStep::Enqueue, port, ports_[port].sequence++, at);
    }
  }
  InLane& lane = ins_[cell.in];
  cell.place = Place::Input;
  cell.next = kNowhere;
  if (lane.head == kNowhere) {
    lane.head = at;
  } else {
    cells_[lane.tail].next = at;
  }
  lane.tail = at;
  if (lane.head == at && !lane.busy) serve_head(cell.in);
}

/// The first packet of an input lane asks for its way out. Requires: the lane is not busy and does
/// not ask yet.
void NetPart::serve_head(LaneAt at) {
  InLane& lane = ins_[at];
  while (lane.head != kNowhere) {
    Cell& cell = cells_[lane.head];
    const PortAt exit = port_of_lane(cell.out);
    NetPort& out = ports_[exit];
    if (!options_.switches.output_buffers && !out.sends()) {
      drop_input(pop_input(lane),
                 out.state == PortState::Down ? Discard::InactivePort : Discard::DeactivatedPort);
      continue;
    }
    OutLane& to = outs_[cell.out];
    cell.ready = now_;
    lane.wants = cell.out;
    lane.next_ask = kNowhere;
    if (to.asks_head == kNowhere) {
      to.asks_head = at;
    } else {
      ins_[to.asks_tail].next_ask = at;
    }
    to.asks_tail = at;
    const auto bit = static_cast<std::uint16_t>(1u << vl_of_lane(cell.out));
    if (options_.switches.output_buffers) {
      out.asking |= bit;
      return try_cross(exit);
    }
    out.waiting |= bit;
    return try_link(exit);
  }
}

/// It keeps its place in the buffer until its last byte is in. Requires: it is in no queue.
void NetPart::drop_input(CellAt at, Discard cause) {
  Cell& cell = cells_[at];
  const PortAt port = port_of_lane(cell.in);
  lose(at, wiring_.wires[port].node, cause);
  cell.place = Place::Dead;
  if (cell.tail > now_) {
    return push_cell(cell.tail, NetStep::FreeInput, port, ports_[port].sequence++, at);
  }
  on_free_input(at);
}

void NetPart::on_free_input(CellAt at) {
  const LaneAt lane = cells_[at].in;
  const unsigned blocks = cells_[at].blocks;
  const bool here = cells_[at].epoch == ports_[port_of_lane(lane)].serial;
  free_cell(at);
  if (here && blocks > 0) release(lane, blocks);
}

void NetPart::on_deliver(PortAt port, CellAt at) {
  Cell& cell = cells_[at];
  const Wire& wire = wiring_.wires[port];
  NetPort& here = ports_[port];
  const bool arrived = cell.epoch == here.epoch;
  const HostNum host = wiring_.host_of[port];
  const HostLid& own = host_lids_[host];
  const bool owned = (cell.dlid >> own.lmc) == (own.lid >> own.lmc) && own.lid != 0;
  if (!arrived || !here.takes() || !(owned || is_multicast(cell.dlid))) {
    lose(at,
         wire.node,
         !arrived                        ? Discard::OnTheWire
         : here.state == PortState::Down ? Discard::InactivePort
         : !here.takes()                 ? Discard::DeactivatedPort
                                         : Discard::WrongNode);
    const LaneAt lane = cell.in;
    const unsigned blocks = cell.blocks;
    free_cell(at);
    if (!arrived) return;
    ins_[lane].abr = count_blocks(ins_[lane].abr, blocks);
    return send_credit(lane);
  }
  const Origin& origin = origins_[at];
  const Delivery arrival{.source = cell.source,
                         .destination = host,
                         .generated = origin.generated,
                         .injected = origin.injected,
                         .head = now_ - transfer_time(wire.byte_time, cell.bytes),
                         .tail = now_,
                         .tag = origin.tag,
                         .payload = cell.payload,
                         .sl = cell.sl,
                         .hops = cell.hops,
                         .marks = cell.marks,
                         .partition = static_cast<std::uint8_t>(number_)};
  const Cell arrived_cell = cell;
  InLane& lane = ins_[cell.in];
  // Into memory at once: what comes in takes no room, but is counted.
  lane.abr = count_blocks(lane.abr, cell.blocks);
  send_credit(cell.in);
  free_cell(at);
  if (arrived_cell.notice != NoticeKind::None) {
    return on_notice(arrival.destination, arrived_cell, arrival.tag);
  }
  ++stats_.delivered;
  stats_.delivered_bytes += arrival.payload;
  stats_.marked += arrival.marks != 0;
  --stats_.in_flight;
  digest(std::uint64_t{arrival.destination} << 32 | arrival.source,
         static_cast<std::uint64_t>(arrival.generated));
  if (hooks_.marking != nullptr && !hooks_.marking->may_occur(arrival.marks)) {
    ++stats_.impossible_marks;
  }
  if (hooks_.echo != nullptr) answer(arrival.destination, arrived_cell);
  if (observer_ != nullptr) observer_->on_delivered(arrival);
  if (workload_ != nullptr) workload_->on_delivered(self_, arrival);
}

}  // namespace smd::sim

// VL15: management packets, before all others and without credits.
#include <algorithm>

#include "sim-backend/packet/net_part.h"
#include "smd/base/check.h"

namespace smd::sim {

bool NetPart::send_management(
    PortAt port, unsigned bytes, Picos ready, Picos tail_in, std::uint64_t cookie) {
  NetPort& here = ports_[port];
  PortExtra& extra = extras_[port];
  // Adapters have them in memory until it is their turn.
  const unsigned most = is_switch_port(port) ? options_.switches.vl15_buffer_bytes : 0;
  const bool full = most > 0 && extra.management_bytes + bytes > most;
  if (here.state == PortState::Down || full) {
    ++stats_.vl15_dropped;
    if (full) ++stats_.discarded[static_cast<std::size_t>(Discard::OutputOverflow)];
    return false;
  }
  if (free_management_ == kNowhere) {
    management_.emplace_back();
    free_management_ = static_cast<CellAt>(management_.size() - 1);
  }
  const CellAt at = free_management_;
  ManagementCell& cell = management_[at];
  free_management_ = cell.next;
  // The link must not run out of bytes that a slow input still brings.
  const Picos took = transfer_time(wiring_.wires[port].byte_time, bytes);
  cell = {.cookie = cookie, .ready = std::max(ready, tail_in - took), .bytes = bytes};
  if (here.management_head == kNowhere) {
    here.management_head = at;
  } else {
    management_[extra.management_tail].next = at;
  }
  extra.management_tail = at;
  extra.management_bytes += bytes;
  wake_at(port, std::max(cell.ready, now_));
  return true;
}

Picos NetPart::management_due(PortAt port) const {
  return std::max(now_, ports_[port].busy_until) + wiring_.wires[port].propagation;
}

/// True when the link has taken one.
bool NetPart::try_management(PortAt port) {
  NetPort& here = ports_[port];
  PortExtra& extra = extras_[port];
  const CellAt at = here.management_head;
  ManagementCell& cell = management_[at];
  if (cell.ready > now_) {
    wake_at(port, cell.ready);
    return false;
  }
  const Wire& wire = wiring_.wires[port];
  here.management_head = cell.next;
  if (here.management_head == kNowhere) extra.management_tail = kNowhere;
  extra.management_bytes -= cell.bytes;
  const Picos begin = std::max(now_, here.busy_until);
  here.busy_until = begin + transfer_time(wire.byte_time, cell.bytes);
  here.link_running = true;
  here.link_lane = kNowhere;
  here.sent_bytes += cell.bytes;
  push(here.busy_until, NetStep::LinkDone, port, here.serial);
  cell.epoch = here.epoch;
  cell.tail = here.busy_until + wire.propagation;
  ++stats_.vl15_sent;
  push(begin + wire.propagation, NetStep::Management, wire.peer, at);
  if (management_handler_ != nullptr) {
    management_handler_->on_sent(cell.cookie, begin + wire.propagation);
  }
  return true;
}

void NetPart::on_management(PortAt port, CellAt at) {
  const ManagementCell cell = management_[at];
  management_[at].next = free_management_;
  free_management_ = at;
  if (management_handler_ == nullptr) return;
  if (cell.epoch != ports_[port].epoch) return management_handler_->on_lost(cell.cookie);
  const Wire& wire = wiring_.wires[port];
  management_handler_->on_head(cell.cookie, wire.node, PortNum{wire.number}, now_, cell.tail);
}

/// The port went down with these in it.
void NetPart::drop_management(PortAt port) {
  NetPort& here = ports_[port];
  PortExtra& extra = extras_[port];
  while (here.management_head != kNowhere) {
    const CellAt at = here.management_head;
    here.management_head = management_[at].next;
    management_[at].next = free_management_;
    free_management_ = at;
    if (management_handler_ != nullptr) management_handler_->on_lost(management_[at].cookie);
  }
  extra.management_tail = kNowhere;
  extra.management_bytes = 0;
}

}  // namespace smd::sim

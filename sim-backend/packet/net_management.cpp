// VL15: management packets, before all others and without credits.
#include <algorithm>

#include "sim-backend/packet/net_impl.h"
#include "smd/base/check.h"

namespace smd::sim {

bool PacketNet::send_management(std::uint32_t node,
                                PortNum port_number,
                                unsigned bytes,
                                Picos ready,
                                Picos tail_in,
                                std::uint64_t cookie) {
  Impl& net = *impl_;
  const PortAt port = net.wiring_.port_of(node, port_number.value());
  NetPort& here = net.ports_[port];
  // Adapters have them in memory until it is their turn.
  const unsigned most = net.is_switch_port(port) ? net.options_.switches.vl15_buffer_bytes : 0;
  const bool full = most > 0 && here.management_bytes + bytes > most;
  if (here.state == PortState::Down || full) {
    ++net.stats_.vl15_dropped;
    if (full) ++net.stats_.discarded[static_cast<std::size_t>(Discard::OutputOverflow)];
    return false;
  }
  if (net.free_management_ == kNowhere) {
    net.management_.emplace_back();
    net.free_management_ = static_cast<CellAt>(net.management_.size() - 1);
  }
  const CellAt at = net.free_management_;
  ManagementCell& cell = net.management_[at];
  net.free_management_ = cell.next;
  // The link must not run out of bytes that a slow input still brings.
  const Picos took = transfer_time(net.wiring_.wires[port].byte_time, bytes);
  cell = {.cookie = cookie, .ready = std::max(ready, tail_in - took), .bytes = bytes};
  if (here.management_head == kNowhere) {
    here.management_head = at;
  } else {
    net.management_[here.management_tail].next = at;
  }
  here.management_tail = at;
  here.management_bytes += bytes;
  net.wake_at(port, std::max(cell.ready, net.now_));
  return true;
}

Picos PacketNet::management_due(std::uint32_t node, PortNum port_number) const {
  const Impl& net = *impl_;
  const PortAt port = net.wiring_.port_of(node, port_number.value());
  return std::max(net.now_, net.ports_[port].busy_until) + net.wiring_.wires[port].propagation;
}

/// True when the link has taken one.
bool PacketNet::Impl::try_management(PortAt port) {
  NetPort& here = ports_[port];
  const CellAt at = here.management_head;
  ManagementCell& cell = management_[at];
  if (cell.ready > now_) {
    wake_at(port, cell.ready);
    return false;
  }
  const Wire& wire = wiring_.wires[port];
  here.management_head = cell.next;
  if (here.management_head == kNowhere) here.management_tail = kNowhere;
  here.management_bytes -= cell.bytes;
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

void PacketNet::Impl::on_management(PortAt port, CellAt at) {
  const ManagementCell cell = management_[at];
  management_[at].next = free_management_;
  free_management_ = at;
  if (management_handler_ == nullptr) return;
  if (cell.epoch != ports_[port].epoch) return management_handler_->on_lost(cell.cookie);
  const Wire& wire = wiring_.wires[port];
  management_handler_->on_head(cell.cookie, wire.node, PortNum{wire.number}, now_, cell.tail);
}

/// The port went down with these in it.
void PacketNet::Impl::drop_management(PortAt port) {
  NetPort& here = ports_[port];
  while (here.management_head != kNowhere) {
    const CellAt at = here.management_head;
    here.management_head = management_[at].next;
    management_[at].next = free_management_;
    free_management_ = at;
    if (management_handler_ != nullptr) management_handler_->on_lost(management_[at].cookie);
  }
  here.management_tail = kNowhere;
  here.management_bytes = 0;
}

}  // namespace smd::sim

// Registers that change, links that come and go, nodes that die.
#include <algorithm>

#include "sim-backend/packet/credits.h"
#include "sim-backend/packet/net_part.h"
#include "smd/base/check.h"
#include "smd/mad/port_info.h"

namespace smd::sim {

void NetPart::load(std::uint32_t node, const NodeState& registers) {
  NetNode& here = nodes_[node];
  here.tables = NodeTables(registers);
  here.on = true;
  for (unsigned number = 1; number <= wiring_.num_ports[node]; ++number) {
    load_port(wiring_.port_of(node, number), registers, number);
  }
}

void NetPart::load_port(PortAt port, const NodeState& registers, unsigned number) {
  const PortRegs& from = registers.ports[number];
  NetPort& here = ports_[port];
  const unsigned vls = std::clamp(data_vls(from.info.operational_vls), 1u, vls_);
  here.vls = static_cast<std::uint8_t>(vls);
  here.mtu = static_cast<std::uint16_t>(mtu_bytes(static_cast<Mtu>(from.info.neighbor_mtu)));
  PortExtra& extra = extras_[port];
  extra.head_life = options_.lifetimes ? life_time(from.info.hoq_life) : kNever;
  const PortNum port_number{static_cast<std::uint8_t>(number)};
  const std::uint16_t arbitration = share_arbitration(
      build_arbitration(registers.read_vl_arb(port_number), from.info.vl_high_limit, vls));
  if (arbitration != here.arbitration) {
    here.arbitration = arbitration;
    extra.arbiter.reset();
  }
  if (const HostNum host = wiring_.host_of[port]; host != kNowhere) {
    const HostLid& own = host_lids_[host] = {.lid = from.info.lid.value(), .lmc = from.info.lmc};
    const std::size_t end = std::size_t{own.lid} + (std::size_t{1} << own.lmc);
    for (std::size_t lid = own.lid; lid < end; ++lid) lid_owner_[lid] = host;
  }
  // A port without a cable carries nothing, whatever its registers say.
  set_state(port, wiring_.wires[port].peer == kNowhere ? PortState::Down : from.state());
}

std::uint16_t NetPart::share_arbitration(ArbitrationTables tables) {
  const auto found = std::ranges::find(arbitration_, tables);
  if (found != arbitration_.end()) {
    return static_cast<std::uint16_t>(found - arbitration_.begin());
  }
  SMD_CHECK(arbitration_.size() <= UINT16_MAX, "more arbitration tables than ports can name");
  arbitration_.push_back(std::move(tables));
  return static_cast<std::uint16_t>(arbitration_.size() - 1);
}

void NetPart::set_state(PortAt port, PortState state) {
  NetPort& here = ports_[port];
  const PortState before = here.state;
  if (before == state) return;
  here.state = state;
  if (state == PortState::Down) {
    cut(port);
    drain(port);
    return drop_management(port);
  }
  // A new link, which counts its credits from 0 and has nothing on it.
  if (before == PortState::Down) cut(port);
  if (!here.sends()) return drain(port);
  if (!here.link_running) try_link(port);
}

/// What is on the link, in either direction, does not arrive.
void NetPart::cut(PortAt port) {
  const PortAt peer = wiring_.wires[port].peer;
  ++ports_[port].epoch;
  if (peer == kNowhere) return;
  // Both ends carry the epoch of what they send; the far end compares with its own.
  if (peer != port) ports_[peer].epoch = ports_[port].epoch;
  reset_credits(port);
  reset_credits(peer);
}

void NetPart::clear_node(std::uint32_t node) {
  NetNode& at = nodes_[node];
  at.on = false;
  at.tables = {};
  at.routing_free = 0;
  for (unsigned number = 1; number <= wiring_.num_ports[node]; ++number) {
    const PortAt port = wiring_.port_of(node, number);
    NetPort& here = ports_[port];
    for (unsigned vl = 0; vl < vls_; ++vl) clear_lane(port * vls_ + vl);
    ++here.serial;
    here.state = PortState::Down;
    here.waiting = here.asking = here.held = 0;
    here.link_running = here.cross_running = here.input_busy = false;
    here.link_lane = here.cross_lane = kNowhere;
    here.busy_until = now_;
    here.blocked = false;
    extras_[port].arbiter.reset();
    drop_management(port);
    cut(port);
  }
}

void NetPart::clear_lane(LaneAt lane) {
  const PortAt port = port_of_lane(lane);
  const std::uint32_t node = wiring_.wires[port].node;
  InLane& in = ins_[lane];
  OutLane& out = outs_[lane];
  while (in.head != kNowhere) {
    const CellAt at = pop_input(in);
    lose(at, node, Discard::ClearedWithNode);
    free_cell(at);
  }
  in.next_ask = in.wants = kNowhere;
  in.free = in.capacity;
  in.moving = 0;
  in.busy = false;
  out.starved = false;
  out.asks_head = out.asks_tail = kNowhere;
  if (!is_switch_port(port)) drop_notices(port, vl_of_lane(lane), Discard::ClearedWithNode);
  while (out.head != kNowhere) {
    CellAt at = out.head;
    if (is_switch_port(port)) {
      out.head = cells_[at].next;
      if (out.head == kNowhere) out.tail = kNowhere;
    } else {
      at = pop_source(port, lane, kNowhere);
    }
    lose(at, node, Discard::ClearedWithNode);
    free_cell(at);
  }
  if (is_switch_port(port)) {
    out.room = static_cast<std::uint16_t>(options_.switches.output_buffer_bytes / kBlockBytes);
  }
}

}  // namespace smd::sim

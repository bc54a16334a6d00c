// The link that leaves a port: whose packet is next, and what becomes of those that cannot go.
#include <algorithm>
#include <array>
#include <bit>

#include "sim-backend/packet/credits.h"
#include "sim-backend/packet/net_part.h"
#include "smd/base/check.h"

namespace smd::sim {

void NetPart::wake_at(PortAt port, Picos when) {
  if (when >= ports_[port].wake_at) return;
  ports_[port].wake_at = when;
  push(when, NetStep::Wake, port, 0);
}

void NetPart::try_link(PortAt port) {
  NetPort& here = ports_[port];
  // A flow control packet has no event of its own: who is next is chosen while it goes.
  if (here.link_running) return;
  if (here.management_head != kNowhere && try_management(port)) return;
  if (here.waiting == 0) return;
  if (!here.sends()) return drain(port);

  std::array<CellAt, 16> candidate;
  std::uint16_t available = 0;
  bool starved = false;
  Picos wake = kNever;
  for (unsigned rest = here.waiting; rest != 0; rest &= rest - 1) {
    const auto vl = static_cast<unsigned>(std::countr_zero(rest));
    const CellAt at = find_candidate(port, vl, wake);
    if (at == kNowhere) continue;
    OutLane& lane = outs_[port * vls_ + vl];
    const Cell& cell = cells_[at];
    take_credits(lane);
    if (has_credit(lane.fccl, lane.fctbs, unsigned{cell.blocks} + cell.copy_blocks)) {
      candidate[vl] = at;
      available = static_cast<std::uint16_t>(available | 1u << vl);
      continue;
    }
    starved = true;
    here.held = static_cast<std::uint16_t>(here.held | 1u << vl);
    if (lane.ring_count > 0) {
      wake = std::min(wake, lane.ring_at[0]);
    } else {
      lane.starved = true;
    }
  }
  const unsigned vl = available == 0 ? VlArbiter::kNobody : choose_vl(port, available);
  if (vl != VlArbiter::kNobody) return start_link(port, vl, candidate[vl]);
  if (starved && !here.blocked) {
    here.blocked = true;
    extras_[port].blocked_since = now_;
  }
  if (wake != kNever) wake_at(port, wake);
  if (options_.lifetimes) watch_age(port);
}

unsigned NetPart::choose_vl(PortAt port, std::uint16_t available) {
  const ArbitrationTables& tables = arbitration_[ports_[port].arbitration];
  if (vls_ > 1) return extras_[port].arbiter.choose(tables, available);
  // Where there is one VL alone, it does not matter where the port stands in its tables.
  return (available & (tables.high_vls | tables.low_vls)) != 0 ? 0 : VlArbiter::kNobody;
}

/// The packet of a VL that could go now but for credit. Where there is none yet, `wake` is when
/// there may be.
CellAt NetPart::find_candidate(PortAt port, unsigned vl, Picos& wake) {
  const LaneAt at = port * vls_ + vl;
  if (!is_switch_port(port)) return find_source(port, at, wake);
  const OutLane& lane = outs_[at];
  if (options_.switches.output_buffers) {
    if (cells_[lane.head].ready <= now_) return lane.head;
    wake = std::min(wake, cells_[lane.head].ready);
    return kNowhere;
  }
  for (LaneAt ask = lane.asks_head; ask != kNowhere; ask = ins_[ask].next_ask) {
    if (!options_.switches.multiplexed || !ports_[port_of_lane(ask)].input_busy) {
      return ins_[ask].head;
    }
  }
  return kNowhere;
}

/// Takes the packet out of what holds it.
CellAt NetPart::take_candidate(PortAt port, unsigned vl, CellAt at) {
  NetPort& here = ports_[port];
  const LaneAt lane_at = port * vls_ + vl;
  OutLane& lane = outs_[lane_at];
  const auto bit = static_cast<std::uint16_t>(1u << vl);
  if (!is_switch_port(port)) return pop_source(port, lane_at, at);
  if (options_.switches.output_buffers) {
    lane.head = cells_[at].next;
    if (lane.head == kNowhere) {
      lane.tail = kNowhere;
      here.waiting = static_cast<std::uint16_t>(here.waiting & ~bit);
    } else if (options_.lifetimes) {
      // The next one is at the head from now on.
      cells_[lane.head].ready = std::max(cells_[lane.head].ready, now_);
    }
    here.link_lane = lane_at;
    here.link_blocks = cells_[at].blocks;
    return at;
  }
  const LaneAt from = cells_[at].in;
  LaneAt before = kNowhere;
  for (LaneAt ask = lane.asks_head; ask != from; ask = ins_[ask].next_ask) before = ask;
  remove_ask(lane, before, from);
  if (lane.asks_head == kNowhere) here.waiting = static_cast<std::uint16_t>(here.waiting & ~bit);
  InLane& in = ins_[from];
  pop_input(in);
  in.busy = true;
  in.moving = cells_[at].blocks;
  NetPort& entry = ports_[port_of_lane(from)];
  entry.input_busy = true;
  entry.last_vl = static_cast<std::uint8_t>(vl_of_lane(from));
  here.link_lane = from;
  cells_[at].blocks = static_cast<std::uint8_t>(cells_[at].blocks + cells_[at].copy_blocks);
  cells_[at].copy_blocks = 0;
  return at;
}

void NetPart::start_link(PortAt port, unsigned vl, CellAt at) {
  NetPort& here = ports_[port];
  const Wire& wire = wiring_.wires[port];
  const bool from_switch = wire.on_switch;
  here.link_lane = kNowhere;
  take_candidate(port, vl, at);
  Cell& cell = cells_[at];
  OutLane& lane = outs_[port * vls_ + vl];
  lane.fctbs = count_blocks(lane.fctbs, cell.blocks);
  if (from_switch && hooks_.marking != nullptr) mark_departure(port, vl, at);
  here.held = static_cast<std::uint16_t>(here.held & ~(1u << vl));
  if (vls_ > 1) extras_[port].arbiter.charge(arbitration_[here.arbitration], cell.bytes);
  if (here.blocked) {
    extras_[port].blocked += now_ - extras_[port].blocked_since;
    here.blocked = false;
  }
  const Picos begin = std::max(now_, here.busy_until);
  here.busy_until = begin + transfer_time(wire.byte_time, cell.bytes);
  here.link_running = true;
  here.sent_bytes += cell.bytes;
  push(here.busy_until, NetStep::LinkDone, port, here.serial);
  if (from_switch) {
    ++stats_.hops;
    ++cell.hops;
  } else {
    origins_[at].injected = begin;
    if (cell.notice == NoticeKind::None) ++stats_.injected;
    if (hooks_.reaction != nullptr && cell.to != kNowhere) {
      hooks_.reaction->on_injected(flow_of(cell), begin, here.busy_until);
    }
  }
  cell.place = Place::Wire;
  cell.epoch = here.epoch;
  cell.tail = here.busy_until + wire.propagation;
  cell.in = wire.peer * vls_ + vl;
  cell.out = kNowhere;
  const std::uint16_t sequence = here.sequence++;
  const bool is_end = !wire.to_switch;
  const Picos head = begin + wire.propagation;
  const Picos when = is_end                               ? cell.tail
                     : options_.switches.one_routing_unit ? head
                                                          : head + input_latency_;
  const NetStep step = is_end ? NetStep::Deliver : NetStep::Arrive;
  if (wire.crosses) return post_cell(when, step, wire.peer, sequence, at);
  push_cell(when, step, wire.peer, sequence, at);
}

void NetPart::on_link_done(PortAt port, std::uint16_t serial) {
  NetPort& here = ports_[port];
  if (here.serial != serial) return;
  here.link_running = false;
  const LaneAt lane = here.link_lane;
  here.link_lane = kNowhere;
  if (!is_switch_port(port)) {
    const HostNum host = wiring_.host_of[port];
    if (hosts_[host].stalled) {
      hosts_[host].stalled = false;
      wake_host(host, now_);
    }
    return try_link(port);
  }
  if (lane == kNowhere) return try_link(port);  // it was a management packet
  if (options_.switches.output_buffers) {
    outs_[lane].room = static_cast<std::uint16_t>(outs_[lane].room + here.link_blocks);
    try_link(port);
    return try_cross(port);
  }
  input_freed(lane);
  try_link(port);
}

/// Nothing leaves a port that is not Active.
void NetPart::drain(PortAt port) {
  NetPort& here = ports_[port];
  const Discard cause =
      here.state == PortState::Down ? Discard::InactivePort : Discard::DeactivatedPort;
  const std::uint32_t node = wiring_.wires[port].node;
  here.blocked = false;
  for (unsigned vl = 0; vl < vls_; ++vl) {
    OutLane& lane = outs_[port * vls_ + vl];
    if ((here.waiting >> vl & 1) == 0) continue;
    here.waiting = static_cast<std::uint16_t>(here.waiting & ~(1u << vl));
    if (is_switch_port(port) && !options_.switches.output_buffers) {
      while (lane.asks_head != kNowhere) {
        const LaneAt from = lane.asks_head;
        remove_ask(lane, kNowhere, from);
        serve_head(from);  // which drops what leads here
      }
      continue;
    }
    if (!is_switch_port(port)) drop_notices(port, vl, cause);
    while (lane.head != kNowhere) {
      if (!is_switch_port(port)) {
        const CellAt at = pop_source(port, port * vls_ + vl, kNowhere);
        lose(at, node, cause);
        free_cell(at);
        continue;
      }
      const CellAt at = lane.head;
      lane.head = cells_[at].next;
      if (lane.head == kNowhere) lane.tail = kNowhere;
      lane.room = static_cast<std::uint16_t>(lane.room + cells_[at].blocks);
      lose(at, node, cause);
      free_cell(at);
    }
  }
  if (is_switch_port(port)) try_cross(port);
}

/// Looks again when the oldest packet at the head of a queue will have been there too long.
void NetPart::watch_age(PortAt port) {
  PortExtra& here = extras_[port];
  if (!is_switch_port(port)) return;
  const Picos switch_life = nodes_[wiring_.wires[port].node].tables.switch_life();
  if (here.head_life == kNever && switch_life == kNever) return;
  Picos next = kNever;
  for (unsigned vl = 0; vl < vls_; ++vl) {
    const OutLane& lane = outs_[port * vls_ + vl];
    const auto look = [&](CellAt at) {
      if (here.head_life != kNever) next = std::min(next, cells_[at].ready + here.head_life);
      if (switch_life != kNever) next = std::min(next, cells_[at].entered + switch_life);
    };
    if (options_.switches.output_buffers) {
      if (lane.head != kNowhere) look(lane.head);
      continue;
    }
    for (LaneAt ask = lane.asks_head; ask != kNowhere; ask = ins_[ask].next_ask) {
      look(ins_[ask].head);
    }
  }
  next = std::max(next, now_);
  if (next == kNever || next >= here.expire_at) return;
  here.expire_at = next;
  push(next, NetStep::Expire, port, 0);
}

void NetPart::on_expire(PortAt port) {
  NetPort& here = ports_[port];
  const Picos head_life = extras_[port].head_life;
  if (extras_[port].expire_at > now_) return;
  extras_[port].expire_at = kNever;
  const std::uint32_t node = wiring_.wires[port].node;
  const Picos switch_life = nodes_[node].tables.switch_life();
  const auto expired = [&](const Cell& cell, Discard& cause) {
    cause = Discard::SwitchLife;
    if (switch_life != kNever && now_ - cell.entered >= switch_life) return true;
    cause = Discard::HeadOfQueueLife;
    return head_life != kNever && now_ - cell.ready >= head_life;
  };
  for (unsigned vl = 0; vl < vls_; ++vl) {
    OutLane& lane = outs_[port * vls_ + vl];
    const auto bit = static_cast<std::uint16_t>(1u << vl);
    Discard cause{};
    if (options_.switches.output_buffers) {
      while (lane.head != kNowhere && cells_[lane.head].ready <= now_ &&
             expired(cells_[lane.head], cause)) {
        const CellAt at = lane.head;
        lane.head = cells_[at].next;
        if (lane.head == kNowhere) {
          lane.tail = kNowhere;
          here.waiting = static_cast<std::uint16_t>(here.waiting & ~bit);
        } else {
          // The next one is at the head from now on.
          cells_[lane.head].ready = std::max(cells_[lane.head].ready, now_);
        }
        lane.room = static_cast<std::uint16_t>(lane.room + cells_[at].blocks);
        lose(at, node, cause);
        free_cell(at);
      }
      continue;
    }
    // First all of them out of the line: who is served next may stand in it again.
    expired_.clear();
    LaneAt before = kNowhere;
    for (LaneAt ask = lane.asks_head; ask != kNowhere;) {
      const LaneAt next = ins_[ask].next_ask;
      if (expired(cells_[ins_[ask].head], cause)) {
        remove_ask(lane, before, ask);
        drop_input(pop_input(ins_[ask]), cause);
        expired_.push_back(ask);
      } else {
        before = ask;
      }
      ask = next;
    }
    if (lane.asks_head == kNowhere) here.waiting = static_cast<std::uint16_t>(here.waiting & ~bit);
    for (const LaneAt ask : expired_) serve_head(ask);
  }
  try_cross(port);
  try_link(port);
}

}  // namespace smd::sim

#include "sim-backend/packet/output_link.h"

#include <algorithm>
#include <array>
#include <bit>

#include "sim-backend/packet/congestion_point.h"
#include "sim-backend/packet/credits.h"
#include "sim-backend/packet/crossbar.h"
#include "sim-backend/packet/flow_control.h"
#include "sim-backend/packet/input_buffers.h"
#include "sim-backend/packet/sources.h"
#include "sim-backend/packet/vl15.h"
#include "smd/base/check.h"

namespace smd::sim {
namespace {

unsigned choose_vl(PartState& net, PortAt port, std::uint16_t available) {
  const ArbitrationTables& tables = net.arbitration[net.ports[port].arbitration];
  if (net.vls > 1) return net.extras[port].arbiter.choose(tables, available);
  // Where there is one VL alone, it does not matter where the port stands in its tables.
  return (available & (tables.high_vls | tables.low_vls)) != 0 ? 0 : VlArbiter::kNobody;
}

/// The packet of a VL that could go now but for credit. Where there is none yet, `wake` is when
/// there may be.
PacketAt find_candidate(const PartState& net, PortAt port, unsigned vl, Picos& wake) {
  const PortVl at = port * net.vls + vl;
  if (!net.is_switch_port(port)) return find_source(net, port, at, wake);
  const OutputVl& port_vl = net.outs[at];
  if (net.options.switches.output_buffers) {
    if (net.packets[port_vl.head].ready <= net.now) return port_vl.head;
    wake = std::min(wake, net.packets[port_vl.head].ready);
    return kNowhere;
  }
  for (PortVl ask = port_vl.asks_head; ask != kNowhere; ask = net.ins[ask].next_ask) {
    if (!net.options.switches.multiplexed || !net.ports[net.port_of_vl(ask)].input_busy) {
      return net.ins[ask].head;
    }
  }
  return kNowhere;
}

/// Takes the packet out of what holds it.
void take_candidate(PartState& net, PortAt port, unsigned vl, PacketAt at) {
  NetPort& here = net.ports[port];
  const PortVl port_vl_at = port * net.vls + vl;
  OutputVl& port_vl = net.outs[port_vl_at];
  const auto bit = static_cast<std::uint16_t>(1u << vl);
  if (!net.is_switch_port(port)) {
    pop_source(net, port, port_vl_at, at);
    return;
  }
  if (net.options.switches.output_buffers) {
    pop_buffer(net, port_vl);
    if (port_vl.head == kNowhere) {
      here.waiting = static_cast<std::uint16_t>(here.waiting & ~bit);
    } else if (net.options.lifetimes) {
      // The next one is at the head from now on.
      net.packets[port_vl.head].ready = std::max(net.packets[port_vl.head].ready, net.now);
    }
    here.link_vl = port_vl_at;
    here.link_blocks = net.packets[at].blocks;
    return;
  }
  const PortVl from = net.packets[at].in;
  PortVl before = kNowhere;
  for (PortVl ask = port_vl.asks_head; ask != from; ask = net.ins[ask].next_ask) before = ask;
  remove_ask(net, port_vl, before, from);
  if (port_vl.asks_head == kNowhere) here.waiting = static_cast<std::uint16_t>(here.waiting & ~bit);
  InputVl& in = net.ins[from];
  pop_buffer(net, in);
  in.busy = true;
  in.moving = net.packets[at].blocks;
  if (net.packets[at].tail > net.now) net.note_passing(from, net.packets[at].tail);
  NetPort& entry = net.ports[net.port_of_vl(from)];
  entry.input_busy = true;
  entry.last_vl = static_cast<std::uint8_t>(net.vl_of(from));
  here.link_vl = from;
  net.packets[at].blocks =
      static_cast<std::uint8_t>(net.packets[at].blocks + net.packets[at].copy_blocks);
  net.packets[at].copy_blocks = 0;
}

void start_link(PartState& net, PortAt port, unsigned vl, PacketAt at) {
  NetPort& here = net.ports[port];
  const Wire& wire = net.wires[port];
  const bool from_switch = wire.on_switch;
  here.link_vl = kNowhere;
  take_candidate(net, port, vl, at);
  DataPacket& packet = net.packets[at];
  OutputVl& port_vl = net.outs[port * net.vls + vl];
  port_vl.fctbs = count_blocks(port_vl.fctbs, packet.blocks);
  if (from_switch && net.hooks.marking != nullptr) mark_departure(net, port, vl, at);
  here.held = static_cast<std::uint16_t>(here.held & ~(1u << vl));
  if (net.vls > 1) net.extras[port].arbiter.charge(net.arbitration[here.arbitration], packet.bytes);
  net.end_blocking(port);
  const Picos begin = std::max(net.now, here.busy_until);
  here.busy_until = begin + transfer_time(wire.byte_time, packet.bytes);
  here.link_running = true;
  here.sent_bytes += packet.bytes;
  net.push(here.busy_until, NetStep::LinkDone, port, here.serial);
  if (from_switch) {
    ++net.stats.hops;
    ++packet.hops;
  } else {
    net.origins[at].injected = begin;
    if (packet.feedback == FeedbackKind::None) ++net.stats.injected;
    if (net.hooks.reaction != nullptr && packet.to != kNowhere) {
      net.hooks.reaction->on_injected(flow_of(packet), begin, here.busy_until);
    }
  }
  packet.place = Place::Wire;
  packet.epoch = here.epoch;
  packet.tail = here.busy_until + wire.propagation;
  packet.in = wire.peer * net.vls + vl;
  packet.out = kNowhere;
  const std::uint16_t sequence = here.sequence++;
  const bool is_end = !wire.to_switch;
  const Picos head = begin + wire.propagation;
  const Picos when = is_end                                  ? packet.tail
                     : net.options.switches.one_routing_unit ? head
                                                             : head + net.input_latency;
  const NetStep step = is_end ? NetStep::Deliver : NetStep::Arrive;
  if (wire.crosses) return net.post_packet(when, step, wire.peer, sequence, at);
  net.push_packet(when, step, wire.peer, sequence, at);
}

/// Looks again when the oldest packet at the head of a queue will have been there too long, whoever
/// has the link then.
void watch_age(PartState& net, PortAt port) {
  PortExtra& here = net.extras[port];
  if (!net.is_switch_port(port)) return;
  const Picos switch_life = net.nodes[net.wires[port].node].tables.switch_life();
  if (here.head_life == kNever && switch_life == kNever) return;
  Picos next = kNever;
  for (unsigned vl = 0; vl < net.vls; ++vl) {
    const OutputVl& port_vl = net.outs[port * net.vls + vl];
    const auto look = [&](PacketAt at) {
      if (here.head_life != kNever) next = std::min(next, net.packets[at].ready + here.head_life);
      if (switch_life == kNever) return;
      next = std::min(next, std::max(net.packets[at].ready, net.packets[at].entered + switch_life));
    };
    if (net.options.switches.output_buffers) {
      if (port_vl.head != kNowhere) look(port_vl.head);
      continue;
    }
    for (PortVl ask = port_vl.asks_head; ask != kNowhere; ask = net.ins[ask].next_ask) {
      look(net.ins[ask].head);
    }
  }
  next = std::max(next, net.now);
  if (next == kNever || next >= here.expire_at) return;
  here.expire_at = next;
  net.push(next, NetStep::Expire, port, 0);
}

void send_next(PartState& net, PortAt port) {
  NetPort& here = net.ports[port];
  // A flow control packet has no event of its own: who is next is chosen while it goes.
  if (here.link_running) return;
  if (here.management_head != kNowhere && try_management(net, port)) return;
  if (here.waiting == 0) return;
  if (!here.sends()) return drain_output(net, port);

  std::array<PacketAt, 16> candidate;
  std::uint16_t available = 0;
  bool starved = false;
  Picos wake = kNever;
  for (unsigned rest = here.waiting; rest != 0; rest &= rest - 1) {
    const auto vl = static_cast<unsigned>(std::countr_zero(rest));
    const PacketAt at = find_candidate(net, port, vl, wake);
    if (at == kNowhere) continue;
    OutputVl& port_vl = net.outs[port * net.vls + vl];
    const DataPacket& packet = net.packets[at];
    take_credits(net, port_vl);
    if (has_credit(port_vl.fccl, port_vl.fctbs, unsigned{packet.blocks} + packet.copy_blocks)) {
      candidate[vl] = at;
      available = static_cast<std::uint16_t>(available | 1u << vl);
      continue;
    }
    starved = true;
    here.held = static_cast<std::uint16_t>(here.held | 1u << vl);
    if (port_vl.ring_count > 0) {
      wake = std::min(wake, port_vl.ring_at[0]);
    } else {
      port_vl.starved = true;
    }
  }
  const unsigned vl = available == 0 ? VlArbiter::kNobody : choose_vl(net, port, available);
  if (vl != VlArbiter::kNobody) return start_link(net, port, vl, candidate[vl]);
  if (starved) net.begin_blocking(port);
  if (wake != kNever) net.wake_at(port, wake);
}

}  // namespace

void try_link(PartState& net, PortAt port) {
  send_next(net, port);
  if (net.options.lifetimes) watch_age(net, port);
}

void on_link_done(PartState& net, PortAt port, std::uint16_t serial) {
  NetPort& here = net.ports[port];
  if (here.serial != serial) return;
  here.link_running = false;
  const PortVl port_vl = here.link_vl;
  here.link_vl = kNowhere;
  if (!net.is_switch_port(port)) {
    let_go_on(net, net.wiring.host_of[port]);
    return try_link(net, port);
  }
  if (port_vl == kNowhere) return try_link(net, port);  // it was a management packet
  if (net.options.switches.output_buffers) {
    net.outs[port_vl].room = static_cast<std::uint16_t>(net.outs[port_vl].room + here.link_blocks);
    try_link(net, port);
    return try_cross(net, port);
  }
  input_freed(net, port_vl);
  try_link(net, port);
}

void drain_output(PartState& net, PortAt port) {
  NetPort& here = net.ports[port];
  const Discard cause =
      here.state == PortState::Down ? Discard::InactivePort : Discard::DeactivatedPort;
  const std::uint32_t node = net.wires[port].node;
  const bool on_switch = net.is_switch_port(port);
  net.end_blocking(port);
  for (unsigned vl = 0; vl < net.vls; ++vl) {
    const PortVl at_vl = port * net.vls + vl;
    OutputVl& out = net.outs[at_vl];
    if ((here.waiting >> vl & 1) == 0) continue;
    here.waiting = static_cast<std::uint16_t>(here.waiting & ~(1u << vl));
    here.held = static_cast<std::uint16_t>(here.held & ~(1u << vl));
    if (on_switch && !net.options.switches.output_buffers) {
      while (out.asks_head != kNowhere) {
        const PortVl from = out.asks_head;
        remove_ask(net, out, kNowhere, from);
        serve_head(net, from);  // which drops what leads here
      }
      continue;
    }
    if (!on_switch) drop_feedback(net, port, vl, cause);
    while (out.head != kNowhere) {
      const PacketAt at = on_switch ? pop_buffer(net, out) : pop_source(net, port, at_vl, kNowhere);
      if (on_switch) {
        out.room = static_cast<std::uint16_t>(out.room + net.packets[at].blocks);
        net.forget_passing(port, net.packets[at]);
      }
      net.lose(at, node, cause);
      net.free_packet(at);
    }
  }
  if (on_switch) return try_cross(net, port);
  let_go_on(net, net.wiring.host_of[port]);
}

void on_wake(PartState& net, PortAt port) {
  NetPort& here = net.ports[port];
  if (here.wake_at <= net.now) here.wake_at = kNever;
  try_link(net, port);
}

void on_expire(PartState& net, PortAt port) {
  NetPort& here = net.ports[port];
  const Picos head_life = net.extras[port].head_life;
  if (net.extras[port].expire_at > net.now) return;
  net.extras[port].expire_at = kNever;
  const std::uint32_t node = net.wires[port].node;
  const Picos switch_life = net.nodes[node].tables.switch_life();
  const auto expired = [&](const DataPacket& packet, Discard& cause) {
    cause = Discard::SwitchLife;
    if (switch_life != kNever && net.now - packet.entered >= switch_life) return true;
    cause = Discard::HeadOfQueueLife;
    return head_life != kNever && net.now - packet.ready >= head_life;
  };
  for (unsigned vl = 0; vl < net.vls; ++vl) {
    OutputVl& port_vl = net.outs[port * net.vls + vl];
    const auto bit = static_cast<std::uint16_t>(1u << vl);
    Discard cause{};
    if (net.options.switches.output_buffers) {
      while (port_vl.head != kNowhere && net.packets[port_vl.head].ready <= net.now &&
             expired(net.packets[port_vl.head], cause)) {
        const PacketAt at = pop_buffer(net, port_vl);
        here.held = static_cast<std::uint16_t>(here.held & ~bit);  // the next one was not asked
        if (port_vl.head == kNowhere) {
          here.waiting = static_cast<std::uint16_t>(here.waiting & ~bit);
        } else {
          // The next one is at the head from now on.
          net.packets[port_vl.head].ready = std::max(net.packets[port_vl.head].ready, net.now);
        }
        port_vl.room = static_cast<std::uint16_t>(port_vl.room + net.packets[at].blocks);
        net.forget_passing(port, net.packets[at]);
        net.lose(at, node, cause);
        net.free_packet(at);
      }
      continue;
    }
    // First all of them out of the line: who is served next may stand in it again.
    net.expired.clear();
    PortVl before = kNowhere;
    for (PortVl ask = port_vl.asks_head; ask != kNowhere;) {
      const PortVl next = net.ins[ask].next_ask;
      if (expired(net.packets[net.ins[ask].head], cause)) {
        if (before == kNowhere) here.held = static_cast<std::uint16_t>(here.held & ~bit);
        remove_ask(net, port_vl, before, ask);
        drop_input(net, pop_buffer(net, net.ins[ask]), cause);
        net.expired.push_back(ask);
      } else {
        before = ask;
      }
      ask = next;
    }
    if (port_vl.asks_head == kNowhere)
      here.waiting = static_cast<std::uint16_t>(here.waiting & ~bit);
    for (const PortVl ask : net.expired) serve_head(net, ask);
  }
  if (here.waiting == 0) net.end_blocking(port);
  try_cross(net, port);
  try_link(net, port);
}

void set_arbitration(PartState& net, PortAt port, ArbitrationTables tables) {
  auto found = std::ranges::find(net.arbitration, tables);
  if (found == net.arbitration.end()) {
    SMD_CHECK(net.arbitration.size() <= UINT16_MAX, "more arbitration tables than ports can name");
    found = net.arbitration.insert(found, std::move(tables));
  }
  const auto number = static_cast<std::uint16_t>(found - net.arbitration.begin());
  if (number == net.ports[port].arbitration) return;
  net.ports[port].arbitration = number;
  net.extras[port].arbiter.reset();
}

void clear_output(PartState& net, PortVl port_vl) {
  const PortAt port = net.port_of_vl(port_vl);
  OutputVl& out = net.outs[port_vl];
  const bool on_switch = net.is_switch_port(port);
  out.starved = false;
  out.asks_head = out.asks_tail = kNowhere;
  if (!on_switch) drop_feedback(net, port, net.vl_of(port_vl), Discard::ClearedWithNode);
  while (out.head != kNowhere) {
    const PacketAt at = on_switch ? pop_buffer(net, out) : pop_source(net, port, port_vl, kNowhere);
    net.lose(at, net.wires[port].node, Discard::ClearedWithNode);
    net.free_packet(at);
  }
  if (on_switch) {
    out.room = static_cast<std::uint16_t>(net.options.switches.output_buffer_bytes / kBlockBytes);
  }
}

}  // namespace smd::sim

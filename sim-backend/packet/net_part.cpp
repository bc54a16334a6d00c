// A partition: who handles an event, and what registers that change, links that come and go, nodes
// that die do to packets under way.
#include "sim-backend/packet/net_part.h"

#include <algorithm>

#include "sim-backend/packet/congestion_point.h"
#include "sim-backend/packet/crossbar.h"
#include "sim-backend/packet/cut_packet.h"
#include "sim-backend/packet/flow_control.h"
#include "sim-backend/packet/input_buffers.h"
#include "sim-backend/packet/output_link.h"
#include "sim-backend/packet/sources.h"
#include "sim-backend/packet/vl15.h"
#include "smd/mad/port_info.h"

namespace smd::sim {

NetPart::NetPart(PacketNet& self,
                 NetState& fabric,
                 const Wiring& wiring,
                 const PacketOptions& options,
                 const std::vector<std::uint32_t>& part_of_node,
                 unsigned number)
    : state(self, fabric, wiring, options, part_of_node, number) {
  const std::size_t per_port =
      sizeof(NetPort) + sizeof(Wire) + state.vls * (sizeof(OutputVl) + sizeof(InputVl));
  looks_ahead_ = fabric.ports.count_made() * per_port > options.cache_bytes;
}

void NetPart::run_before(Picos horizon) {
  EventWheel& queue = state.queue;
  if (state.full) return;
  state.horizon = horizon;
  while (!queue.empty()) {
    if (const auto soon = queue.refill(); looks_ahead_ && !soon.empty()) look_ahead(state, soon);
    const Event event = queue.top();
    if (event.at >= state.horizon) return;
    queue.pop();
    state.now = event.at;
    run(event);
  }
}

bool NetPart::run_one() {
  if (state.queue.empty() || state.full) return false;
  const Event event = state.queue.top();
  state.queue.pop();
  state.now = event.at;
  run(event);
  return true;
}

Picos NetPart::next_due() {
  if (state.full) return kNever;
  return std::min(state.queue.empty() ? kNever : state.queue.top().at, state.least_posted);
}

void NetPart::run(const Event& event) {
  const std::uint32_t index = index_of(event);
  const auto argument = static_cast<std::uint32_t>(event.what);
  const PortAt port = port_of(event);
  const PacketAt packet = packet_of(event);
  ++state.stats.events;
  switch (step_of(event)) {
    case NetStep::CreditLeaves:
      --state.stats.events;
      return on_credit_leaves(state, index, static_cast<std::uint16_t>(argument));
    case NetStep::CreditArrives:
      --state.stats.events;
      return on_credit_arrives(state, index, argument);
    case NetStep::LinkDone:
      return on_link_done(state, index, static_cast<std::uint16_t>(argument));
    case NetStep::CrossDone:
      return on_cross_done(state, index, static_cast<std::uint16_t>(argument));
    case NetStep::FreeInput:
      return on_free_input(state, packet);
    case NetStep::Management:
      return on_management(state, index, argument);
    case NetStep::Enqueue:
      return on_enqueue(state, packet);
    case NetStep::Arrive:
      return on_arrive(state, port, packet);
    case NetStep::Deliver:
      return on_deliver(state, port, packet);
    case NetStep::LossKnown:
      return on_loss_known(state, index, argument);
    case NetStep::Emit:
      return on_emit(state, index, event.at);
    case NetStep::Expire:
      --state.stats.events;
      return on_expire(state, index);
    case NetStep::Wake:
      --state.stats.events;
      return on_wake(state, index);
  }
}

void NetPart::load(std::uint32_t node, const NodeState& registers) {
  if (state.is_here[node]) {
    NetNode& here = state.nodes[node];
    here.tables = NodeTables(registers);
    here.on = true;
  }
  for (unsigned number = 1; number <= state.wiring.num_ports[node]; ++number) {
    load_port(state.wiring.port_of(node, number), registers, number);
  }
}

void NetPart::open(std::uint32_t node, unsigned mtu) {
  constexpr std::uint8_t kAllDataVls = 5;  // the code of VL0 to VL14
  NodeState power_on;
  power_on.ports.resize(1);
  power_on.options.vl_cap = kAllDataVls;
  power_on.options.vl_arb_cap = static_cast<std::uint8_t>(data_vls(kAllDataVls));
  const VlArbTables arbitration = power_on.read_vl_arb(PortNum{0});
  if (state.is_here[node]) state.nodes[node].on = true;
  for (unsigned number = 1; number <= state.wiring.num_ports[node]; ++number) {
    const PortAt port = state.wiring.port_of(node, number);
    if (state.wires[port].peer == kNowhere) continue;
    if (!state.is_here[node]) {
      reset_link(port);
      continue;
    }
    NetPort& here = state.ports[port];
    here.vls = static_cast<std::uint8_t>(state.vls);
    here.mtu = static_cast<std::uint16_t>(mtu);
    set_arbitration(state, port, build_arbitration(arbitration, 0, state.vls));
    set_state(port, PortState::Active);
  }
}

void NetPart::load_port(PortAt port, const NodeState& registers, unsigned number) {
  const PortRegs& from = registers.ports[number];
  if (const HostNum host = state.wiring.host_of[port]; host != kNowhere) {
    own_lids(host, {.lid = from.info.lid.value(), .lmc = from.info.lmc});
  }
  // A port without a cable carries nothing, whatever its registers say.
  const PortState goes = state.wires[port].peer == kNowhere ? PortState::Down : from.state();
  if (!state.has(port)) {
    if (goes != PortState::Down) reset_link(port);
    return;
  }
  NetPort& here = state.ports[port];
  const unsigned vls = std::clamp(data_vls(from.info.operational_vls), 1u, state.vls);
  here.vls = static_cast<std::uint8_t>(vls);
  here.mtu = static_cast<std::uint16_t>(mtu_bytes(static_cast<Mtu>(from.info.neighbor_mtu)));
  state.extras[port].head_life = state.options.lifetimes ? life_time(from.info.hoq_life) : kNever;
  const PortNum port_number{static_cast<std::uint8_t>(number)};
  set_arbitration(
      state,
      port,
      build_arbitration(registers.read_vl_arb(port_number), from.info.vl_high_limit, vls));
  set_state(port, goes);
}

/// LIDs that it had and has no more are nobody's, until somebody comes who has them.
void NetPart::own_lids(HostNum host, HostLid lids) {
  const auto set = [this](const HostLid& of, HostNum from, HostNum to) {
    if (of.lid == 0) return;
    const std::size_t end = std::size_t{of.lid} + (std::size_t{1} << of.lmc);
    for (std::size_t lid = of.lid; lid < std::min(end, state.lid_owner.size()); ++lid) {
      if (from == kNowhere || state.lid_owner[lid] == from) state.lid_owner[lid] = to;
    }
  };
  set(state.host_lids[host], host, kNowhere);
  set(lids, kNowhere, host);
  state.host_lids[host] = lids;
}

void NetPart::set_state(PortAt port, PortState port_state) {
  NetPort& here = state.ports[port];
  const PortState before = here.state;
  if (before == port_state) return;
  here.state = port_state;
  if (port_state == PortState::Down) {
    cut(port);
    drain_output(state, port);
    return drop_management(state, port);
  }
  // A new link, which counts its credits from 0 and has nothing on it.
  if (before == PortState::Down) reset_link(port);
  if (!here.sends()) return drain_output(state, port);
  if (!here.link_running) try_link(state, port);
}

/// What is on the link, in either direction, does not arrive; nor does what is half over it.
void NetPart::cut(PortAt port) {
  reset_link(port);
  const PortAt peer = state.wires[port].peer;
  if (peer == kNowhere) return;
  cut_incoming(state.parts, port);
  if (state.has(peer)) cut_incoming(state.parts, peer);
}

/// What is on its way now is of another link than what comes after it.
void NetPart::reset_link(PortAt port) {
  const PortAt peer = state.wires[port].peer;
  if (state.has(port)) ++state.ports[port].epoch;
  if (peer == kNowhere) return;
  // Both ends carry the epoch of what they send; the far end compares with its own.
  if (!state.has(port)) {
    if (state.has(peer)) ++state.ports[peer].epoch;
  } else if (peer != port && state.has(peer)) {
    state.ports[peer].epoch = state.ports[port].epoch;
  }
  reset_credits(state, port);
  reset_credits(state, peer);
}

void NetPart::switch_off(std::uint32_t node) {
  const PortAt end = state.wiring.begin_of(node + 1);
  if (!state.is_here[node]) {
    for (PortAt port = state.wiring.begin_of(node); port < end; ++port) reset_link(port);
    return;
  }
  NetNode& at = state.nodes[node];
  at.on = false;
  at.tables = {};
  at.routing_free = 0;
  at.copying.clear();
  for (PortAt port = state.wiring.begin_of(node); port < end; ++port) {
    NetPort& here = state.ports[port];
    for (unsigned vl = 0; vl < state.vls; ++vl) {
      clear_input(state, port * state.vls + vl);
      clear_output(state, port * state.vls + vl);
    }
    ++here.serial;
    here.state = PortState::Down;
    here.waiting = here.asking = here.held = here.copies_wait = 0;
    here.link_running = here.cross_running = here.input_busy = false;
    here.link_vl = here.cross_vl = kNowhere;
    here.busy_until = state.now;
    state.end_blocking(port);
    state.extras[port].arbiter.reset();
    state.extras[port].passing_until = 0;
    drop_management(state, port);
    cut(port);
    if (const HostNum host = state.wiring.host_of[port]; host != kNowhere) let_go_on(state, host);
  }
}

}  // namespace smd::sim

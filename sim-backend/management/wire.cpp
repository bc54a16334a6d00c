// Ports and cables: serialisation, propagation, buffers, faults of the wire, and the relay of a
// switch. Times are those of a packet's head: a relay cuts through, a SMI waits for the tail.
#include <algorithm>

#include "sim-backend/management/fabric_impl.h"

namespace smd::sim {
namespace {

// Nothing in InfiniBand stops a packet that tables send in a circle; no subnet is this wide.
constexpr std::uint16_t kMaxWires = 1024;

void flip_one_bit(MadBytes& mad, Rng& rng) {
  const std::uint64_t bit = rng.below(kMadSize * 8);
  mad[bit / 8] ^= static_cast<std::byte>(1u << (bit % 8));
}

bool takes_data(PortState state) { return state == PortState::Armed || state == PortState::Active; }

}  // namespace

void SimFabric::Impl::send(Packet* packet, PortNum out, TimePoint earliest) {
  const bool is_switch = nodes_[packet->node].state.is_switch();
  LinkEnd& end = link(packet->node, out);
  PortRegs& port = nodes_[packet->node].state.ports[out.value()];
  const bool management = packet->dest_qp == 0;
  if (!end.up || (!management && port.state() != PortState::Active)) {
    add_sticky(port.counters.xmit_discards);
    return drop(packet, stats_.dropped_link);
  }
  const bool carried = management && carrier_ != nullptr;
  const Duration backlog = end.busy_until - earliest;
  if (!carried && management && is_switch && timing_.vl15_packets > 0 &&
      backlog > end.serialisation * timing_.vl15_packets) {
    add_sticky(port.counters.xmit_discards);
    return drop(packet, stats_.dropped_vl15);
  }
  if (++packet->hops > kMaxWires) {
    add_sticky(port.counters.xmit_discards);
    return drop(packet, stats_.dropped_route);
  }
  if (carried) return hand_over(packet, out, earliest);
  // A fast output must not overtake the tail that a slow input still brings.
  const TimePoint tail_in{packet->ready.since_epoch - end.serialisation};
  const TimePoint start = std::max({earliest, end.busy_until, tail_in});
  end.busy_until = start + end.serialisation;
  port.counters.count_xmit(kCountedWords);

  TimePoint head_arrives = start + timing_.cable;
  if (faulty_wires_) {
    if (faults_.drop > 0 && rng_.chance(faults_.drop)) return drop(packet, stats_.dropped_fault);
    if (faults_.duplicate > 0 && rng_.chance(faults_.duplicate)) {
      Packet* copy = pool_.take();
      *copy = *packet;
      launch(copy, end, head_arrives + end.serialisation);
    }
    if (faults_.corrupt > 0 && rng_.chance(faults_.corrupt)) {
      flip_one_bit(packet->mad, rng_);
      packet->corrupt = !faults_.corrupt_undetected;
    }
    if (faults_.reorder > 0 && rng_.chance(faults_.reorder)) {
      const auto most = static_cast<std::uint64_t>(faults_.reorder_delay.count());
      head_arrives = head_arrives + Duration{static_cast<std::int64_t>(rng_.below(most + 1))};
    }
  }
  launch(packet, end, head_arrives);
}

void SimFabric::Impl::launch(Packet* packet, const LinkEnd& from, TimePoint head_arrives) {
  head_to(packet, from);
  schedule(head_arrives, packet, Step::Arrive);
}

void SimFabric::Impl::head_to(Packet* packet, const LinkEnd& from) {
  packet->node = from.peer_node;
  packet->port = from.peer_port;
  packet->local = false;
  packet->by_lid = false;
  packet->carried = false;
  packet->link_epoch = from.epoch;
}

void SimFabric::Impl::on_arrive(Packet* packet) {
  const LinkEnd& end = link(packet->node, packet->port);
  if (!end.up || end.epoch != packet->link_epoch) return drop(packet, stats_.dropped_link);
  PortCounterRegs& counted = counters(packet->node, packet->port);
  if (packet->corrupt) {
    add_sticky(counted.rcv_errors);
    return drop(packet, stats_.dropped_fault);
  }
  counted.count_rcv(kCountedWords);
  packet->node_epoch = nodes_[packet->node].epoch;
  if (!packet->carried) packet->ready = runtime_.now() + end.serialisation;
  return packet->dest_qp == 0 ? arrive_smp(packet) : arrive_gmp(packet);
}

void SimFabric::Impl::arrive_smp(Packet* packet) {
  const NodeState& state = nodes_[packet->node].state;
  if (packet->dlid == kPermissiveLid) return enqueue_smi(packet);
  const bool lost = state.is_switch() && !state.options.routes_smps_by_lid;
  if (lost || !is_unicast(packet->dlid)) return drop_unroutable(packet);
  packet->by_lid = true;
  if (!state.is_switch()) {
    return state.owns_lid(packet->port, packet->dlid) ? enqueue_smi(packet)
                                                      : drop_unroutable(packet);
  }
  const RelayEgress egress = relay_unicast(state, packet->dlid, packet->port);
  if (egress.fault != RelayFault::None) return drop_unroutable(packet);
  if (egress.port.value() != 0) return transit(packet, egress.port);
  return state.owns_lid(PortNum{}, packet->dlid) ? enqueue_smi(packet) : drop_unroutable(packet);
}

void SimFabric::Impl::arrive_gmp(Packet* packet) {
  const NodeState& state = nodes_[packet->node].state;
  const PortNum in = packet->port;
  if (!takes_data(state.ports[in.value()].state())) return drop(packet, stats_.dropped_link);
  if (!is_unicast(packet->dlid)) return drop_unroutable(packet);
  if (!state.is_switch()) {
    return state.owns_lid(in, packet->dlid) ? reach_gsi(packet) : drop_unroutable(packet);
  }
  const RelayEgress egress = relay_unicast(state, packet->dlid, in);
  if (egress.fault != RelayFault::None) return drop_unroutable(packet);
  if (egress.port.value() != 0) return transit(packet, egress.port);
  if (!state.owns_lid(PortNum{}, packet->dlid)) return drop_unroutable(packet);
  return takes_data(state.ports[0].state()) ? reach_gsi(packet) : drop(packet, stats_.dropped_link);
}

void SimFabric::Impl::transit(Packet* packet, PortNum out) {
  const NodeState& state = nodes_[packet->node].state;
  if (packet->dest_qp != 0) {
    const unsigned vl = state.map_sl(packet->port, out, Sl{packet->sl}).value();
    if (vl >= data_vls(state.ports[out.value()].info.operational_vls)) {
      add_sticky(counters(packet->node, out).xmit_discards);
      return drop(packet, stats_.dropped_route);
    }
  }
  send(packet, out, runtime_.now() + timing_.switch_hop);
}

void SimFabric::Impl::drop_unroutable(Packet* packet) {
  add_sticky(counters(packet->node, packet->port).rcv_switch_relay_errors);
  drop(packet, stats_.dropped_route);
}

}  // namespace smd::sim

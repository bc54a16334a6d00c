#include "sim-backend/packet/flow_control.h"

#include <algorithm>

#include "sim-backend/packet/credits.h"
#include "smd/base/check.h"

namespace smd::sim {
namespace {

/// Without a place in the ring: the far end gets the news by an event.
void pass_credit(PartState& net, PortVl at, Picos arrives) {
  const PortAt port = net.port_of_vl(at);
  const Wire& wire = net.wires[port];
  const PortVl far = wire.peer * net.vls + net.vl_of(at);
  const std::uint32_t news = std::uint32_t{net.ports[port].epoch} << 16 | net.ins[at].advertised;
  if (!wire.crosses) return net.push(arrives, NetStep::CreditArrives, far, news);
  net.post(net.wires[wire.peer].node,
           {.at = arrives,
            .step = NetStep::CreditArrives,
            .index = far,
            .argument = news,
            .packet = {}});
}

}  // namespace

void release_blocks(PartState& net, PortVl at, unsigned blocks) {
  InputVl& port_vl = net.ins[at];
  port_vl.free = static_cast<std::uint16_t>(port_vl.free + blocks);
  SMD_CHECK(port_vl.free <= port_vl.capacity, "a buffer gave back more than it held");
  send_credit(net, at);
}

void send_credit(PartState& net, PortVl at) {
  const PortAt port = net.port_of_vl(at);
  const Wire& wire = net.wires[port];
  NetPort& here = net.ports[port];
  if (here.state == PortState::Down || wire.peer == kNowhere) return;
  const unsigned vl = net.vl_of(at);
  InputVl& port_vl = net.ins[at];
  port_vl.advertised = credit_limit(port_vl.abr, port_vl.free);
  // One that has not left yet takes the news along.
  if (port_vl.unsent) return;
  Picos leaves = net.now;
  Picos took = 0;
  if (net.options.links.flow_control_packets) {
    took = transfer_time(wire.byte_time, kFlowControlBytes);
    leaves = std::max(net.now, here.busy_until);
  }
  OutputVl& sender = net.outs[wire.peer * net.vls + vl];
  if (!wire.crosses) {
    take_credits(net, sender);
    if (sender.ring_count > 0) {
      const std::size_t newest = sender.ring_count - 1u;
      if (sender.ring_at[newest] - took - wire.propagation > net.now) {
        sender.ring_fccl[newest] = port_vl.advertised;
        return;
      }
    }
  }
  if (took > 0) here.busy_until = leaves + took;
  const Picos arrives = leaves + took + wire.propagation;
  if (wire.crosses || sender.ring_count == kCreditRing) {
    if (leaves == net.now) return pass_credit(net, at, arrives);
    port_vl.unsent = true;
    return net.push(leaves, NetStep::CreditLeaves, at, here.epoch);
  }
  sender.ring_at[sender.ring_count] = arrives;
  sender.ring_fccl[sender.ring_count] = port_vl.advertised;
  ++sender.ring_count;
  if (!sender.starved) return;
  sender.starved = false;
  net.wake_at(wire.peer, arrives);
}

void on_credit_leaves(PartState& net, PortVl at, std::uint16_t epoch) {
  const PortAt port = net.port_of_vl(at);
  if (net.ports[port].epoch != epoch) return;
  net.ins[at].unsent = false;
  const Wire& wire = net.wires[port];
  pass_credit(
      net, at, net.now + transfer_time(wire.byte_time, kFlowControlBytes) + wire.propagation);
}

void on_credit_arrives(PartState& net, PortVl at, std::uint32_t argument) {
  const PortAt port = net.port_of_vl(at);
  NetPort& here = net.ports[port];
  if (here.epoch != argument >> 16) return;
  OutputVl& port_vl = net.outs[at];
  take_credits(net, port_vl);
  // Of several at one instant the last counts; limits only grow.
  const auto fccl = static_cast<std::uint16_t>(argument);
  if (credit_left(fccl, port_vl.fccl) <= kMostCredit) port_vl.fccl = fccl;
  const auto bit = static_cast<std::uint16_t>(1u << net.vl_of(at));
  port_vl.starved = false;
  // It may wait for a later one, of which it knew already.
  if (!here.link_running && (here.waiting & bit) != 0) net.wake_at(port, net.now);
}

void reset_credits(PartState& net, PortAt port) {
  const PortAt peer = net.wires[port].peer;
  // What another process receives is empty yet.
  unsigned free = input_capacity(net.options, net.is_switch_port(peer));
  for (unsigned vl = 0; vl < net.vls; ++vl) {
    if (net.has(peer)) {
      InputVl& in = net.ins[peer * net.vls + vl];
      free = in.free;
      in.abr = 0;
      in.advertised = credit_limit(0, in.free);
      in.unsent = false;
    }
    if (!net.has(port)) continue;
    OutputVl& out = net.outs[port * net.vls + vl];
    out.fctbs = 0;
    out.fccl = credit_limit(0, free);
    out.ring_count = 0;
    out.starved = false;
  }
}

}  // namespace smd::sim

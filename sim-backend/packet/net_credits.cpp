// Credits: what a receiver tells when it has room again, and what a sender knows of it.
#include "sim-backend/packet/credits.h"

#include "sim-backend/packet/net_part.h"
#include "smd/base/check.h"

namespace smd::sim {
namespace {

constexpr unsigned kFlowControlBytes = 6;  // Op and FCTBS, VL and FCCL, LPCRC

}  // namespace

void NetPart::release(LaneAt at, unsigned blocks) {
  InLane& lane = ins_[at];
  lane.free = static_cast<std::uint16_t>(lane.free + blocks);
  SMD_CHECK(lane.free <= lane.capacity, "a buffer gave back more than it held");
  send_credit(at);
}

/// A flow control packet goes back over the link: after the packet that is on it, before every
/// other but those on VL15.
void NetPart::send_credit(LaneAt at) {
  const PortAt port = port_of_lane(at);
  const Wire& wire = wiring_.wires[port];
  NetPort& here = ports_[port];
  if (here.state == PortState::Down || wire.peer == kNowhere) return;
  const unsigned vl = vl_of_lane(at);
  InLane& lane = ins_[at];
  lane.told = credit_limit(lane.abr, lane.free);
  // One that has not left yet takes the news along.
  if (lane.unsent) return;
  Picos leaves = now_;
  Picos took = 0;
  if (options_.cables.flow_control_packets) {
    took = transfer_time(wire.byte_time, kFlowControlBytes);
    leaves = std::max(now_, here.busy_until);
  }
  OutLane& sender = outs_[wire.peer * vls_ + vl];
  if (!wire.crosses) {
    take_credits(sender);
    if (sender.ring_count > 0) {
      const std::size_t newest = sender.ring_count - 1u;
      if (sender.ring_at[newest] - took - wire.propagation > now_) {
        sender.ring_fccl[newest] = lane.told;
        return;
      }
    }
  }
  if (took > 0) here.busy_until = leaves + took;
  const Picos arrives = leaves + took + wire.propagation;
  if (wire.crosses || sender.ring_count == kCreditRing) {
    if (leaves == now_) return pass_credit(at, arrives);
    lane.unsent = true;
    return push(leaves, NetStep::CreditLeaves, at, here.epoch);
  }
  sender.ring_at[sender.ring_count] = arrives;
  sender.ring_fccl[sender.ring_count] = lane.told;
  ++sender.ring_count;
  if (!sender.starved) return;
  sender.starved = false;
  wake_at(wire.peer, arrives);
}

/// Without a place in the ring: the far end gets the news by an event.
void NetPart::pass_credit(LaneAt at, Picos arrives) {
  const PortAt port = port_of_lane(at);
  const Wire& wire = wiring_.wires[port];
  const LaneAt far = wire.peer * vls_ + vl_of_lane(at);
  const std::uint32_t news = std::uint32_t{ports_[port].epoch} << 16 | ins_[at].told;
  if (!wire.crosses) return push(arrives, NetStep::CreditArrives, far, news);
  post(wiring_.wires[wire.peer].node,
       {.at = arrives, .step = NetStep::CreditArrives, .index = far, .argument = news, .cell = {}});
}

void NetPart::on_credit_leaves(LaneAt at, std::uint16_t epoch) {
  const PortAt port = port_of_lane(at);
  if (ports_[port].epoch != epoch) return;
  ins_[at].unsent = false;
  const Wire& wire = wiring_.wires[port];
  pass_credit(at, now_ + transfer_time(wire.byte_time, kFlowControlBytes) + wire.propagation);
}

void NetPart::on_credit_arrives(LaneAt at, std::uint32_t argument) {
  const PortAt port = port_of_lane(at);
  NetPort& here = ports_[port];
  if (here.epoch != argument >> 16) return;
  OutLane& lane = outs_[at];
  take_credits(lane);
  // Of several at one instant the last counts; limits only grow.
  const auto fccl = static_cast<std::uint16_t>(argument);
  if (credit_left(fccl, lane.fccl) <= kMostCredit) lane.fccl = fccl;
  const auto bit = static_cast<std::uint16_t>(1u << vl_of_lane(at));
  lane.starved = false;
  // It may wait for a later one, of which it knew already.
  if (!here.link_running && (here.waiting & bit) != 0) wake_at(port, now_);
}

/// A link has come up: both ends begin to count from 0.
void NetPart::reset_credits(PortAt port) {
  const PortAt peer = wiring_.wires[port].peer;
  for (unsigned vl = 0; vl < vls_; ++vl) {
    InLane& in = ins_[peer * vls_ + vl];
    OutLane& out = outs_[port * vls_ + vl];
    in.abr = 0;
    out.fctbs = 0;
    out.fccl = in.told = credit_limit(0, in.free);
    in.unsent = false;
    out.ring_count = 0;
    out.starved = false;
  }
}

}  // namespace smd::sim

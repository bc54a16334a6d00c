// Credits: what a receiver tells when it has room again, and what a sender knows of it.
#include "sim-backend/packet/credits.h"

#include "sim-backend/packet/net_impl.h"
#include "smd/base/check.h"

namespace smd::sim {
namespace {

constexpr unsigned kFlowControlBytes = 6;  // Op and FCTBS, VL and FCCL, LPCRC

}  // namespace

void PacketNet::Impl::release(LaneAt at, unsigned blocks) {
  InLane& lane = ins_[at];
  lane.free = static_cast<std::uint16_t>(lane.free + blocks);
  SMD_CHECK(lane.free <= lane.capacity, "a buffer gave back more than it held");
  send_credit(at);
}

/// A flow control packet goes back over the link: after the packet that is on it, before every
/// other but those on VL15.
void PacketNet::Impl::send_credit(LaneAt at) {
  const PortAt port = port_of_lane(at);
  const Wire& wire = wiring_.wires[port];
  NetPort& here = ports_[port];
  if (here.state == PortState::Down || wire.peer == kNowhere) return;
  const unsigned vl = vl_of_lane(at);
  const std::uint16_t fccl = credit_limit(ins_[at].abr, ins_[at].free);
  OutLane& sender = outs_[wire.peer * vls_ + vl];
  while (sender.ring_count > 0 && sender.ring[sender.ring_at].at <= now_) {
    sender.fccl = sender.ring[sender.ring_at].fccl;
    sender.ring_at = static_cast<std::uint8_t>((sender.ring_at + 1u) % kCreditRing);
    --sender.ring_count;
  }
  Credit* newest = sender.ring_count == 0
                       ? nullptr
                       : &sender.ring[(sender.ring_at + sender.ring_count - 1u) % kCreditRing];
  Picos arrives = now_ + wire.propagation;
  if (options_.cables.flow_control_packets) {
    const Picos took = transfer_time(wire.byte_time, kFlowControlBytes);
    // One that has not left yet takes the news along.
    if (newest != nullptr && newest->at - took - wire.propagation > now_) {
      newest->fccl = fccl;
      return;
    }
    const Picos start = std::max(now_, here.busy_until);
    here.busy_until = start + took;
    arrives = start + took + wire.propagation;
  }
  if (sender.ring_count == kCreditRing) {
    *newest = {.at = arrives, .fccl = fccl};
  } else {
    sender.ring[(sender.ring_at + sender.ring_count) % kCreditRing] = {.at = arrives, .fccl = fccl};
    ++sender.ring_count;
  }
  NetPort& far = ports_[wire.peer];
  if ((far.starved >> vl & 1) == 0) return;
  far.starved = static_cast<std::uint16_t>(far.starved & ~(1u << vl));
  wake_at(wire.peer, arrives);
}

/// Takes in the credits that have arrived; whether they are enough.
bool PacketNet::Impl::take_credits(OutLane& lane, unsigned blocks) const {
  while (lane.ring_count > 0 && lane.ring[lane.ring_at].at <= now_) {
    lane.fccl = lane.ring[lane.ring_at].fccl;
    lane.ring_at = static_cast<std::uint8_t>((lane.ring_at + 1u) % kCreditRing);
    --lane.ring_count;
  }
  return has_credit(lane.fccl, lane.fctbs, blocks);
}

/// A link has come up: both ends begin to count from 0.
void PacketNet::Impl::reset_credits(PortAt port) {
  const PortAt peer = wiring_.wires[port].peer;
  for (unsigned vl = 0; vl < vls_; ++vl) {
    InLane& in = ins_[peer * vls_ + vl];
    OutLane& out = outs_[port * vls_ + vl];
    in.abr = 0;
    out.fctbs = 0;
    out.fccl = credit_limit(0, in.free);
    out.ring_count = 0;
  }
  ports_[port].starved = 0;
}

}  // namespace smd::sim

// Link-level flow control: a receiver that has room again sends its FCCL to the sender of its VL.
//
// Credits cost no event of their own: they lie in a ring at the sender until it looks, and wake it
// only when it starves. More than the ring holds, as on a cable that is long for its packets, come
// by events, and so do those that go to another partition.
//
// Handles CreditLeaves, CreditArrives. Raises both, and Wake at the port that gets credit.
#pragma once

#include "sim-backend/packet/part_state.h"

namespace smd::sim {

void on_credit_leaves(PartState& net, PortVl port_vl, std::uint16_t epoch);
void on_credit_arrives(PartState& net, PortVl port_vl, std::uint32_t argument);

/// So many blocks of an input buffer are free again.
void release_blocks(PartState& net, PortVl port_vl, unsigned blocks);

/// A flow control packet goes back over the link: after the packet that is on it, before every
/// other but those on VL15.
void send_credit(PartState& net, PortVl port_vl);

/// Takes in the credits that have arrived.
inline void take_credits(const PartState& net, OutputVl& port_vl) {
  while (port_vl.ring_count > 0 && port_vl.ring_at[0] <= net.now) {
    port_vl.fccl = port_vl.ring_fccl[0];
    --port_vl.ring_count;
    for (std::size_t i = 0; i < port_vl.ring_count; ++i) {
      port_vl.ring_at[i] = port_vl.ring_at[i + 1];
      port_vl.ring_fccl[i] = port_vl.ring_fccl[i + 1];
    }
  }
}

/// A link has come up: both ends begin to count from 0.
void reset_credits(PartState& net, PortAt port);

}  // namespace smd::sim

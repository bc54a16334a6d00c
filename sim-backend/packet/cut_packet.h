// A link that drops under a packet whose head has passed it: the rest never comes.
//
// Wherever the head is by then, the packet is lost there and then, on the wire that dropped. What
// of it stands in a buffer is thrown away; what is on a link goes on to the next node, which throws
// it away (IBA 7.3: it ends as a bad packet). Room and credits go back as those of a whole packet.
#pragma once

#include "sim-backend/packet/part_state.h"

namespace smd::sim {

/// What is coming in at this port; nothing where the port is an adapter's, or its node is off.
/// Requires: no partition runs.
void cut_incoming(std::span<PartState* const> parts, PortAt port);

/// Throws away a packet that was cut before it stood in a queue, copies and all.
void drop_cut(PartState& net, PacketAt at);

}  // namespace smd::sim

// The link that leaves a port: whose packet is next, and what becomes of those that cannot go.
//
// Handles LinkDone, Wake, Expire. Raises all three, and Arrive or Deliver at the far end. Takes
// what it sends from the sources, the input buffers or an output buffer, or lets VL15 send. Calls
// the crossbar with the room that a packet leaves, congestion control to mark.
#pragma once

#include "sim-backend/packet/part_state.h"

namespace smd::sim {

void on_link_done(PartState& net, PortAt port, std::uint16_t serial);
void on_wake(PartState& net, PortAt port);
void on_expire(PartState& net, PortAt port);

/// Sends the next packet, if the link is free and one may go.
void try_link(PartState& net, PortAt port);

void set_arbitration(PartState& net, PortAt port, ArbitrationTables tables);

/// Nothing leaves a port that is not Active.
void drain_output(PartState& net, PortAt port);

/// The node dies.
void clear_output(PartState& net, PortVl port_vl);

}  // namespace smd::sim

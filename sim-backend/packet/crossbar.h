// The crossbar of a switch: who crosses next to the output buffer of a port, where there are any,
// and what becomes of an input that has been left.
//
// Handles CrossDone. Raises CrossDone, and Wake at the port that a packet crosses to. Calls flow
// control with the room that the packet held, the input buffers for the one behind it, the output
// link for inputs that waited for their way into the crossbar, congestion control to mark.
#pragma once

#include "sim-backend/packet/part_state.h"

namespace smd::sim {

void on_cross_done(PartState& net, PortAt port, std::uint16_t serial);

/// Lets one packet cross to the output buffers of a port, if one can.
void try_cross(PartState& net, PortAt port);

/// The first packet of an input VL, on its way into the crossbar.
PacketAt take_input(PartState& net, PortVl from);

/// It, or a copy of it, crosses to the output buffer of a port. Requires: the port is free and has
/// room.
void enter_output(PartState& net, PortVl from, PacketAt at, PortAt port, unsigned vl);

/// The packet that was leaving an input VL is out.
void input_freed(PartState& net, PortVl port_vl);

}  // namespace smd::sim

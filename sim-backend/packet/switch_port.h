// Port 0 of switches: data that is for the switch itself, and data that it makes.
//
// Handles Deliver at switches. What comes in stands in its input buffer until its last byte is in,
// and is taken into memory then; what a switch makes goes through its table and crossbar as if it
// had come in by a cable, but waits in memory, not in a buffer.
#pragma once

#include "sim-backend/packet/part_state.h"

namespace smd::sim {

/// The packet is for this switch. Requires: it is in no queue; there is a handler.
void take_in(PartState& net, PortAt in, PacketAt at);

void on_taken_in(PartState& net, PortAt in, PacketAt at);

void send_from_switch(PartState& net, const SwitchSending& sending);

}  // namespace smd::sim

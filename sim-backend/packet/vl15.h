// VL15: management packets, before all others and without credits.
//
// Handles Management, the head of one at the far end of its link. Raises that, LinkDone, and Wake
// when one is ready.
#pragma once

#include "sim-backend/packet/part_state.h"

namespace smd::sim {

void on_management(PartState& net, PortAt port, PacketAt at);

/// As PacketNet::send_management.
bool send_vl15(
    PartState& net, PortAt port, unsigned bytes, Picos ready, Picos tail_in, std::uint64_t cookie);

/// As PacketNet::management_due.
[[nodiscard]] Picos vl15_due(const PartState& net, PortAt port);

/// True when the link has taken one. Requires: one waits, the link is free.
[[nodiscard]] bool try_management(PartState& net, PortAt port);

/// The port went down with these in it.
void drop_management(PartState& net, PortAt port);

}  // namespace smd::sim

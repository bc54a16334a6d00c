// How a switch copies a multicast packet to the ports of its row in the multicast table.
//
//   in turn   a copy for each port stands in the input buffer, one after the other by number; each
//             waits for its own port, and those behind it wait too
//   together  the packet stands there once, until all of its ports are free and have room; then all
//             copies cross at one instant. It holds no port meanwhile: who wants one alone goes by,
//             so a packet for many busy ports may wait for long. Of several that wait in a switch,
//             who began first is tried first
//
// Either way the place in the input buffer is free again when the last copy has left, and each copy
// takes room, credits and its turn on the link as any packet does.
#pragma once

#include "sim-backend/packet/part_state.h"

namespace smd::sim {

/// The packet and its copies into the input buffer. Requires: its LID is a multicast one; it is in
/// no queue.
void replicate(PartState& net, PortAt in, PacketAt at);

/// What was replicated, once all of it may stand in the buffer.
void store_copies(PartState& net, PacketAt first);

/// The first packet of an input VL asks for all of its ports at once.
void ask_together(PartState& net, PortVl port_vl);

/// A port of the switch is free, or has room: packets that wait for several may cross.
void cross_together(PartState& net, std::uint32_t node);

/// Counts the packet and those behind it in the same place as lost, and frees them.
void lose_copies(PartState& net, PacketAt first, std::uint32_t node, Discard cause);

}  // namespace smd::sim

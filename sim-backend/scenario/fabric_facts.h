// What mechanisms of congestion control have to know of a fabric, read from its routes and times.
#pragma once

#include "sim-backend/congestion/preset.h"
#include "sim-backend/packet/packet_net.h"
#include "sim-backend/scenario/programmed_nodes.h"

namespace smd::sim {

/// Switches on the longest route between two hosts, by the tables in the registers. 0 where there
/// is none.
[[nodiscard]] unsigned longest_route(const PacketNet& net, const ProgrammedFabric& fabric);

/// Round trip: a packet of `payload` bytes there and an acknowledgement back over the empty path
/// that takes longest, each of its cables as long as it is, at the pace of the fastest host link.
/// Window: such packets that fill it. Radix: most hosts of a switch. Stages: half of the longest
/// route's switches and one, rounded up.
[[nodiscard]] FabricFacts survey(const PacketNet& net,
                                 const ProgrammedFabric& fabric,
                                 unsigned payload);

}  // namespace smd::sim

// What mechanisms of congestion control have to know of a fabric, read from its routes and times.
#pragma once

#include "sim-backend/congestion/preset.h"
#include "sim-backend/packet/packet_net.h"
#include "sim-backend/scenario/programmed_nodes.h"

namespace smd::sim {

/// Switches on the longest route between two hosts, by the tables in the registers. 0 where there
/// is none.
[[nodiscard]] unsigned longest_route(const PacketNet& net, const ProgrammedFabric& fabric);

/// Of an empty path over so many switches: a packet of `payload` bytes there, an acknowledgement
/// back, at the pace of the slowest host link.
[[nodiscard]] Picos empty_round_trip(const PacketNet& net, unsigned switches, unsigned payload);

/// Window: packets of `payload` bytes that fill the longest empty path. Radix: most hosts of a
/// switch. Stages: half of the longest route's switches and one, rounded up.
[[nodiscard]] FabricFacts survey(const PacketNet& net,
                                 const ProgrammedFabric& fabric,
                                 unsigned payload);

}  // namespace smd::sim

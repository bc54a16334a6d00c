// A switch's relay: where its tables send a packet (IBA 18.2.4.3). Pure; the port states are
// looked at by who moves the packet.
#pragma once

#include "sim-backend/agents/node_state.h"

namespace smd::sim {

enum class RelayFault : std::uint8_t { None, Unroutable, BackToInput };

struct RelayEgress {
  PortNum port;  // 0: the switch itself
  RelayFault fault = RelayFault::None;
};

/// Requires: a switch and a unicast LID. `in` is 0 for what the switch itself sends.
[[nodiscard]] RelayEgress relay_unicast(const NodeState& node, Lid dlid, PortNum in);

/// What the table says: the entry of the LFT, or the match in the RFT or its default port.
/// kNoRoute when there is none.
[[nodiscard]] PortNum find_route(const NodeState& node, Lid dlid);

/// Of the ports 16 * `position` and up those that the MFT of a switch has for a multicast LID, by
/// bit; none above MulticastFDBTop.
[[nodiscard]] std::uint16_t find_copies(const NodeState& node, Lid mlid, std::size_t position);

}  // namespace smd::sim

// The performance management agent: PortCounters, PortCountersExtended and the class's
// ClassPortInfo (IBA 16.1).
#pragma once

#include "sim-backend/agents/node_state.h"
#include "smd/mad/header.h"

namespace smd::sim {

/// Turns a Get or Set of the performance class into its answer. `arrival`: the port it came in
/// by; 0 on a switch. A port number of 255 means all ports of a switch.
void answer_performance(NodeState& node, PortNum arrival, MadBytes& mad);

}  // namespace smd::sim

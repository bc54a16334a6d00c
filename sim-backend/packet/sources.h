// What adapters send: packets are made when the workload says so, and wait for their port in queues
// by VL.
//
// Handles Emit. Raises Emit. Calls the output link when a packet has come.
#pragma once

#include "sim-backend/packet/part_state.h"

namespace smd::sim {

void on_emit(PartState& net, HostNum host, Picos at);

/// As PacketNet::send and wake.
void send_packet(PartState& net, HostNum source, const PacketRequest& sending);
void wake_host(PartState& net, HostNum host, Picos at);

/// Fewer packets wait: a host that was held back is asked again.
void let_go_on(PartState& net, HostNum host);

/// What may go now, or kNowhere: then `wake` is when something may, if not earlier. Requires:
/// something waits in the VL.
[[nodiscard]] PacketAt find_source(const PartState& net, PortAt port, PortVl port_vl, Picos& wake);

/// Takes out `at`, which is the first of its queue; kNowhere: any.
PacketAt pop_source(PartState& net, PortAt port, PortVl port_vl, PacketAt at);

}  // namespace smd::sim

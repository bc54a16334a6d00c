// A drawn fabric as a manager would have discovered it: for those who look at routes without a
// simulated subnet.
#pragma once

#include <memory>

#include "sim-backend/topology/fabric_spec.h"
#include "smd/fabric/hosts.h"

namespace smd::sim {

/// Nodes in the order of the drawing. Cabled ports are Active at the rate of their cable, with
/// eight data VLs; switches have room for 1,024 multicast LIDs.
[[nodiscard]] std::shared_ptr<const Fabric> build_snapshot(const FabricSpec& spec);

/// As it is without what sends no data of its own: routers, whose ports on switches are free then,
/// and aggregation nodes (SHARP), which are parts of their switches: whose ports to them are none,
/// where they are the last, and else free. A manager that sat on one sits on its switch.
[[nodiscard]] FabricSpec hosts_and_switches(FabricSpec spec);

/// Which of the drawing's adapters are of one host: all of them, those that send no data too.
[[nodiscard]] HostAdapters group_adapters(const FabricSpec& spec);

/// Cabled ports of adapters in node order, then by port: hosts and rails of what sends packets.
[[nodiscard]] HostPorts group_ports(const FabricSpec& spec);

/// LIDs that the drawing gives to end ports; none where it gives none. A fault names the two ports
/// that claim one LID.
[[nodiscard]] Result<LidMap> read_lids(const FabricSpec& spec, const Fabric& snapshot);

}  // namespace smd::sim

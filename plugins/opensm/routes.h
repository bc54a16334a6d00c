// The routes that one sweep computed, and what OpenSM asks of them. Immutable: its query threads
// read them while the next sweep makes new ones.
#pragma once

#include <memory>

#include "smd/fabric/fabric.h"
#include "smd/routing/tables.h"

namespace smd::opensm {

struct Routes {
  std::shared_ptr<const Fabric> fabric;
  LidMap lids;
  RoutingTables tables;
};

/// The SL of the path; `hint` where the routes do not care, or know one of the LIDs not.
[[nodiscard]] std::uint8_t find_path_sl(const Routes& routes,
                                        Lid source,
                                        Lid destination,
                                        std::uint8_t hint);

/// Whether the routes stand only with SL-to-VL tables of theirs. One VL is free of deadlock under
/// any tables: whatever VLs packets are given, they wait for channels in the same order.
[[nodiscard]] bool needs_sl_to_vl(const RoutingTables& tables);

/// SL to VL at a switch. Requires: the ports exist.
[[nodiscard]] SlToVl find_sl_to_vl(const Routes& routes, SwitchIdx sw, PortNum in, PortNum out);

/// SL to VL where packets enter the subnet.
[[nodiscard]] SlToVl find_entry_sl_to_vl(const Routes& routes);

}  // namespace smd::opensm

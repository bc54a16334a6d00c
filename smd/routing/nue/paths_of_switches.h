// Shortest paths on trees: those of hosts go up and then down and cannot wait for each other in a
// circle. Those from one switch without hosts to another go down and up again, and may close one.
// Nearly nothing is sent there but SMPs, yet GMPs and what an enhanced port 0 sends take a data VL
// like any packet, so they are led elsewhere instead of being left out of the count.
#pragma once

#include "smd/fabric/fabric.h"
#include "smd/fabric/lid_map.h"
#include "smd/routing/engine.h"
#include "smd/routing/tables.h"

namespace smd {

/// Chooses again, where the dependencies of tables for one VL between channels have a cycle:
/// entries for LIDs of switches, and of other LIDs those that no packet of a host, of a router or
/// of the manager's own port meets. What hosts send to hosts stays as it is. Paths between switches
/// may become longer than need be; no pair loses its path. Requires: the tables lead to every LID
/// of `lids`, without loops, wherever there is a path. False, and nothing is changed, when there is
/// no cycle, when hosts' own paths close one, when no choice was found, or when packets do not stay
/// on one VL.
[[nodiscard]] bool lead_switches_apart(const Fabric& fabric,
                                       const LidMap& lids,
                                       RoutingTables& tables);

/// The same for tables that an engine made out of routes in force which lead_switches_apart() led
/// (their `turns` say so): of what differs from those, entries that no packet of a host meets are
/// chosen again, as in force where that can be. Requires: `tables` are complete and without loops
/// as above. False, and nothing is changed, when the routes in force were not led, or when what
/// changed closes a cycle: then all paths between switches have to be chosen again.
[[nodiscard]] bool keep_switches_apart(const PreviousRoutes& in_force,
                                       const Fabric& fabric,
                                       const LidMap& lids,
                                       RoutingTables& tables);

}  // namespace smd

// What a change of the fabric has done to the ports, the rows and the LIDs of the tables in force.
#pragma once

#include <array>
#include <bitset>
#include <utility>
#include <vector>

#include "smd/fabric/fabric.h"
#include "smd/routing/engine.h"
#include "smd/routing/graph/switch_graph.h"
#include "smd/routing/tables.h"
#include "smd/routing/updn/orientation.h"

namespace smd {

// Which ports of the switches that were there before lead elsewhere now.

struct PortChanges {
  /// The switch as it was; kNone for switches that were not there.
  IndexVector<SwitchIdx, SwitchIdx> before;

  /// By port number: leads to no switch any more, to another port than before, or in the other
  /// direction. Entries over such a port have to be looked at; all others are as good as they were.
  IndexVector<SwitchIdx, std::bitset<256>> suspect;

  /// Ports of known switches that lead to a switch, and led elsewhere or nowhere. Ascending.
  struct Gained {
    SwitchIdx sw;
    PortNum port;
    SwitchIdx to;
  };

  std::vector<Gained> gained;

  /// Links between switches or switches have come or gone. Switches that went count by their
  /// neighbours' ports.
  [[nodiscard]] bool any() const;
};

/// Ports of switches as they are now; their directions do not matter.
[[nodiscard]] PortChanges find_port_changes(const Fabric& before,
                                            const Fabric& now,
                                            const SwitchGraph& graph);

/// Directions are compared by the ranks that each side had then and has now.
[[nodiscard]] PortChanges find_port_changes(const Fabric& before,
                                            const Orientation& orientation_before,
                                            const Fabric& now,
                                            const OrientedFabric& oriented);

// Tables in force as a start for new ones.

/// A row per switch as it is now, each copied from what it had before; `row_before` is kNone for
/// switches that were not there. Never shorter than before.
[[nodiscard]] ForwardingTables copy_tables(const ForwardingTables& before,
                                           const IndexVector<SwitchIdx, SwitchIdx>& row_before,
                                           Lid top);

/// Where each switch of `now` stood in the other snapshot; kNone: it was not there.
[[nodiscard]] IndexVector<SwitchIdx, SwitchIdx> find_rows_before(const Fabric& before,
                                                                 const Fabric& now);

// Links from a switch to itself. No route takes them, but an old entry may: to a host that sat at
// the port once. Its packets would go round for ever.

inline std::vector<std::pair<SwitchIdx, PortNum>> find_loopback_links(const Fabric& fabric) {
  std::vector<std::pair<SwitchIdx, PortNum>> ports;
  for (const SwitchIdx sw : fabric.switch_node.indices()) {
    const NodeIdx node = fabric.switch_node[sw];
    for (const PortIdx port : fabric.external_ports(node)) {
      if (fabric.peer[port] != kNone<PortIdx> && fabric.node_of[fabric.peer[port]] == node)
        ports.emplace_back(sw, fabric.number_of(port));
    }
  }
  return ports;
}

// Destinations that tables still lead to though nobody has their LIDs now.

/// Whether the switch, by its number there, led the LID to a port of its own or to an end port, or
/// to nobody; not to another switch.
[[nodiscard]] bool serves(const PreviousRoutes& routes, SwitchIdx sw, Lid lid);

/// Adds to `targets` the LIDs with entries in force that nobody has, at the switch that served
/// them, if the switch is there and leads nobody else's traffic over the port. Those that follow
/// each other as the LIDs of one port do are one target: each has its offset again.
void add_orphaned_lids(const Fabric& fabric,
                       const LidMap& lids,
                       const PreviousRoutes& in_force,
                       Targets& targets);

}  // namespace smd

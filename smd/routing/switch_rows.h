// The SL-to-VL rows that switches shall hold, one for every way from a cable, or from the switch
// itself, to a cable.
#pragma once

#include "smd/routing/tables.h"

namespace smd {

/// Rows of the routes' lanes; where the engine says nothing, `common` everywhere. A VL that a link
/// does not have is taken modulo the number that both of its ends have, as a row that names a
/// missing VL would discard the packets. Ways that no cable has: row of whatever content.
[[nodiscard]] LaneMaps build_switch_rows(const Fabric& fabric,
                                         const LaneMaps& lanes,
                                         const SlToVl& common);

/// Data lanes that both ends of the cable have. Requires: a cable.
[[nodiscard]] unsigned count_lanes(const Fabric& fabric, PortIdx out);

/// SL s on VL s modulo `vls`.
[[nodiscard]] SlToVl modulo_row(unsigned vls);

/// Calls visit(in, out) for every way through the switch that has a row: to a port with a cable,
/// from another one or from port 0.
template <class Visit>
void for_each_way(const Fabric& fabric, SwitchIdx sw, Visit&& visit) {
  const NodeIdx node = fabric.switch_node[sw];
  for (const PortIdx out : fabric.external_ports(node)) {
    if (fabric.peer[out] == kNone<PortIdx>) continue;
    visit(PortNum{0}, fabric.number_of(out));
    for (const PortIdx in : fabric.external_ports(node)) {
      if (in != out && fabric.peer[in] != kNone<PortIdx>)
        visit(fabric.number_of(in), fabric.number_of(out));
    }
  }
}

}  // namespace smd

#include "plugins/opensm/routes.h"

#include <algorithm>

namespace smd::opensm {
namespace {

/// The switch that packets from `port` reach first; kNone where there is none.
SwitchIdx find_first_switch(const Fabric& fabric, PortIdx port) {
  if (port == kNone<PortIdx>) return kNone<SwitchIdx>;
  const SwitchIdx own = fabric.switch_at(port);
  if (own != kNone<SwitchIdx>) return own;
  const PortIdx peer = fabric.peer[port];
  return peer == kNone<PortIdx> ? kNone<SwitchIdx> : fabric.switch_at(peer);
}

}  // namespace

std::uint8_t find_path_sl(const Routes& routes, Lid source, Lid destination, std::uint8_t hint) {
  const PathSls& sls = routes.tables.path_sls;
  if (sls.empty() || routes.lids.owner_of(destination) == kNone<PortIdx>) return hint;
  const SwitchIdx sw = find_first_switch(*routes.fabric, routes.lids.owner_of(source));
  return sw == kNone<SwitchIdx> ? hint : sls.sl(sw, destination);
}

bool needs_sl_to_vl(const RoutingTables& tables) {
  return tables.vls > 1 || !tables.sl_to_vl.empty();
}

SlToVl find_sl_to_vl(const Routes& routes, SwitchIdx sw, PortNum in, PortNum out) {
  return routes.tables.sl_to_vl.empty() ? find_entry_sl_to_vl(routes)
                                        : routes.tables.sl_to_vl.row(sw, in, out);
}

SlToVl find_entry_sl_to_vl(const Routes& routes) {
  const unsigned vls = std::max(1u, routes.tables.vls);
  SlToVl row{};
  for (unsigned sl = 0; sl < row.size(); ++sl) row[sl] = Vl{static_cast<std::uint8_t>(sl % vls)};
  return row;
}

}  // namespace smd::opensm

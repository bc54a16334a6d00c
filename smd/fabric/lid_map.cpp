#include "smd/fabric/lid_map.h"

#include <algorithm>

#include "smd/base/check.h"

namespace smd {

LidMap make_lid_map(const Fabric& fabric) {
  LidMap map;
  map.base.assign(fabric.port_count(), kUnassignedLid);
  map.lmc.assign(fabric.port_count(), 0);
  return map;
}

void set_lid(LidMap& map, PortIdx port, Lid base, std::uint8_t lmc) {
  const unsigned first = base.value();
  const unsigned last = first + (1u << lmc) - 1;
  SMD_CHECK(is_unicast(base) && last <= kTopUnicastLid.value(), "not unicast LIDs");
  if (map.owner.size() <= last) map.owner.resize(last + 1, kNone<PortIdx>);
  for (unsigned lid = first; lid <= last; ++lid) {
    SMD_CHECK(map.owner[lid] == kNone<PortIdx>, "the LID is taken");
    map.owner[lid] = port;
  }
  map.base[port] = base;
  map.lmc[port] = lmc;
  map.top = std::max(map.top, Lid{static_cast<std::uint16_t>(last)});
}

}  // namespace smd

#include "smd/policy/lid_takeover.h"

#include <vector>

namespace smd {

LidBook follow_fabric(const Fabric& fabric, LidBook book) {
  std::vector<bool> taken(kTopUnicastLid.value() + 1u, false);
  LidBook out;
  for (const PortIdx port : fabric.peer.indices()) {
    if (!fabric.is_end_port(port)) continue;
    const PortInfo& info = fabric.port_info[port];
    const unsigned last = info.lid.value() + (1u << info.lmc) - 1u;
    if (!is_unicast(info.lid) || last > kTopUnicastLid.value()) continue;
    book.erase(fabric.port_guid[port]);
    out[fabric.port_guid[port]] = {.base = info.lid, .lmc = info.lmc};
    for (unsigned lid = info.lid.value(); lid <= last; ++lid) taken[lid] = true;
  }
  for (const auto& [guid, record] : book) {
    const unsigned last = record.base.value() + (1u << record.lmc) - 1u;
    bool free = last <= kTopUnicastLid.value();
    for (unsigned lid = record.base.value(); free && lid <= last; ++lid) free = !taken[lid];
    if (free) out.emplace(guid, record);
  }
  return out;
}

}  // namespace smd

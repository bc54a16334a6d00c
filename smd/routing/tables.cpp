#include "smd/routing/tables.h"

#include <algorithm>

namespace smd {

void fill_default_ports(const IndexVector<SwitchIdx, PortNum>& default_port,
                        const LidMap& lids,
                        ForwardingTables& tables) {
  std::vector<char> owned(tables.blocks() * kLftBlockSize, 0);
  for (std::size_t lid = 0; lid < std::min(owned.size(), lids.owner.size()); ++lid)
    owned[lid] = lids.owner[lid] != kNone<PortIdx>;
  for (const SwitchIdx sw : default_port.indices()) {
    const PortNum port = default_port[sw];
    if (port == kNoRoute) continue;
    const std::span<PortNum> row = tables.row(sw);
    for (std::size_t lid = 0; lid < row.size(); ++lid)
      row[lid] = row[lid] == kNoRoute && owned[lid] ? port : row[lid];
  }
}

}  // namespace smd

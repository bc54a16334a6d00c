#include "smd/routing/lanes.h"

#include <algorithm>
#include <functional>

namespace smd {

LaneMaps::LaneMaps(const Fabric& fabric)
    : first_(fabric.switch_count(), 0), width_(fabric.switch_count(), 0) {
  std::size_t size = 0;
  for (const SwitchIdx sw : fabric.switch_node.indices()) {
    width_[sw] = static_cast<std::uint16_t>(fabric.num_ports(fabric.switch_node[sw]) + 1);
    first_[sw] = static_cast<std::uint32_t>(size);
    size += std::size_t{width_[sw]} * width_[sw];
  }
  index_.assign(size, 0);
}

std::uint16_t LaneMaps::add_row(const SlToVl& row) {
  const auto at = std::ranges::lower_bound(
      sorted_, row, std::less<>{}, [&](std::uint16_t number) -> const SlToVl& {
        return rows_[number];
      });
  if (at != sorted_.end() && rows_[*at] == row) return *at;
  rows_.push_back(row);
  return *sorted_.insert(at, static_cast<std::uint16_t>(rows_.size() - 1));
}

void LaneMaps::set_row(SwitchIdx sw, PortNum in, PortNum out, std::uint16_t row) {
  index_[at(sw, in, out)] = row;
}

bool LaneMaps::fits(const Fabric& fabric) const {
  if (width_.size() != fabric.switch_count()) return false;
  for (const SwitchIdx sw : width_.indices()) {
    if (width_[sw] != fabric.num_ports(fabric.switch_node[sw]) + 1) return false;
  }
  return true;
}

unsigned count_common_lanes(const Fabric& fabric) {
  unsigned lanes = 15;
  for (const PortIdx port : fabric.peer.indices()) {
    const PortIdx far = fabric.peer[port];
    if (far == kNone<PortIdx> || !fabric.is_switch(fabric.node_of[port]) ||
        !fabric.is_switch(fabric.node_of[far]))
      continue;
    lanes = std::min(lanes, std::max(1u, data_vls(fabric.port_info[port].vl_cap)));
  }
  return lanes;
}

}  // namespace smd

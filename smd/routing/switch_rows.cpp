#include "smd/routing/switch_rows.h"

#include <algorithm>

namespace smd {
namespace {

SlToVl fit(SlToVl row, unsigned lanes) {
  for (Vl& vl : row) {
    if (vl != kManagementVl) vl = Vl{static_cast<std::uint8_t>(vl.value() % lanes)};
  }
  return row;
}

}  // namespace

unsigned count_lanes(const Fabric& fabric, PortIdx out) {
  const auto lanes = [&](PortIdx port) {
    return std::max(1u, data_vls(fabric.port_info[port].vl_cap));
  };
  return std::min(lanes(out), lanes(fabric.peer[out]));
}

LaneMaps build_switch_rows(const Fabric& fabric, const LaneMaps& lanes, const SlToVl& common) {
  LaneMaps rows{fabric};
  rows.add_row(common);
  for (const SwitchIdx sw : fabric.switch_node.indices()) {
    const NodeIdx node = fabric.switch_node[sw];
    for_each_way(fabric, sw, [&](PortNum in, PortNum out) {
      const SlToVl& wanted = lanes.empty() ? common : lanes.row(sw, in, out);
      rows.set_row(
          sw, in, out, rows.add_row(fit(wanted, count_lanes(fabric, fabric.port_of(node, out)))));
    });
  }
  return rows;
}

SlToVl modulo_row(unsigned vls) {
  SlToVl row;
  for (unsigned sl = 0; sl < row.size(); ++sl) row[sl] = Vl{static_cast<std::uint8_t>(sl % vls)};
  return row;
}

}  // namespace smd

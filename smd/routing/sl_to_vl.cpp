#include "smd/routing/sl_to_vl.h"

#include <algorithm>
#include <functional>

namespace smd {
namespace {

SlToVl fit(SlToVl row, unsigned vls) {
  for (Vl& vl : row) {
    if (vl != kManagementVl) vl = Vl{static_cast<std::uint8_t>(vl.value() % vls)};
  }
  return row;
}

}  // namespace

std::optional<std::uint8_t> find_path_sl(const Fabric& fabric,
                                         const PathSls& sls,
                                         PortIdx source,
                                         Lid destination) {
  if (sls.empty() || !sls.covers(fabric.switch_count(), destination)) return std::nullopt;
  const bool is_switch = fabric.is_switch(fabric.node_of[source]);
  const PortIdx at = is_switch ? source : fabric.peer[source];
  const SwitchIdx sw = at == kNone<PortIdx> ? kNone<SwitchIdx> : fabric.switch_at(at);
  if (sw == kNone<SwitchIdx>) return std::nullopt;
  return sls.sl(sw, destination);
}

SlToVlMaps::SlToVlMaps(const Fabric& fabric)
    : first_(fabric.switch_count(), 0), width_(fabric.switch_count(), 0) {
  std::size_t size = 0;
  for (const SwitchIdx sw : fabric.switch_node.indices()) {
    width_[sw] = static_cast<std::uint16_t>(fabric.num_ports(fabric.switch_node[sw]) + 1);
    first_[sw] = static_cast<std::uint32_t>(size);
    size += std::size_t{width_[sw]} * width_[sw];
  }
  index_.assign(size, 0);
}

std::uint16_t SlToVlMaps::add_row(const SlToVl& row) {
  const auto at = std::ranges::lower_bound(
      sorted_, row, std::less<>{}, [&](std::uint16_t number) -> const SlToVl& {
        return rows_[number];
      });
  if (at != sorted_.end() && rows_[*at] == row) return *at;
  rows_.push_back(row);
  return *sorted_.insert(at, static_cast<std::uint16_t>(rows_.size() - 1));
}

void SlToVlMaps::set_row(SwitchIdx sw, PortNum in, PortNum out, std::uint16_t row) {
  index_[at(sw, in, out)] = row;
}

bool SlToVlMaps::fits(const Fabric& fabric) const {
  if (width_.size() != fabric.switch_count()) return false;
  for (const SwitchIdx sw : width_.indices()) {
    if (width_[sw] != fabric.num_ports(fabric.switch_node[sw]) + 1) return false;
  }
  return true;
}

unsigned count_common_vls(const Fabric& fabric) {
  unsigned vls = 15;
  for (const PortIdx port : fabric.peer.indices()) {
    const PortIdx peer = fabric.peer[port];
    if (peer == kNone<PortIdx> || !fabric.is_switch(fabric.node_of[port]) ||
        !fabric.is_switch(fabric.node_of[peer]))
      continue;
    vls = std::min(vls, std::max(1u, data_vls(fabric.port_info[port].vl_cap)));
  }
  return vls;
}

unsigned count_vls(const Fabric& fabric, PortIdx out) {
  const auto vls = [&](PortIdx port) {
    return std::max(1u, data_vls(fabric.port_info[port].vl_cap));
  };
  return std::min(vls(out), vls(fabric.peer[out]));
}

SlToVlMaps build_switch_rows(const Fabric& fabric, const SlToVlMaps& vls, const SlToVl& common) {
  constexpr std::uint32_t kUnknown = ~std::uint32_t{0};
  constexpr std::size_t kMostVls = 16;
  SlToVlMaps rows{fabric};
  rows.add_row(common);
  // Thousands of turns have the same row on links with as many VLs. By number there and VLs.
  std::vector<std::uint32_t> fitted(std::max<std::size_t>(vls.rows().size(), 1) * kMostVls,
                                    kUnknown);
  std::vector<std::uint8_t> vls_of_port;
  for (const SwitchIdx sw : fabric.switch_node.indices()) {
    const NodeIdx node = fabric.switch_node[sw];
    vls_of_port.assign(std::size_t{fabric.num_ports(node)} + 1, 0);
    for_each_turn(fabric, sw, [&](PortNum in, PortNum out) {
      std::uint8_t& there = vls_of_port[out.value()];
      if (there == 0)
        there = static_cast<std::uint8_t>(count_vls(fabric, fabric.port_of(node, out)));
      const std::size_t wanted = vls.empty() ? 0 : vls.row_number(sw, in, out);
      std::uint32_t& number = fitted[wanted * kMostVls + there];
      if (number == kUnknown)
        number = rows.add_row(fit(vls.empty() ? common : vls.rows()[wanted], there));
      rows.set_row(sw, in, out, static_cast<std::uint16_t>(number));
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

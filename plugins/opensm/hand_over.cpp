#include "plugins/opensm/hand_over.h"

#include <fmt/format.h>

#include <algorithm>
#include <span>

namespace smd::opensm {

Result<void> check_room(const Snapshot& snapshot) {
  for (const SwitchIdx sw : snapshot.switches.indices()) {
    const osm_switch_t& target = *snapshot.switches[sw];
    const NodeIdx node = snapshot.fabric->switch_node[sw];
    const bool fits = target.new_lft != nullptr && target.hops != nullptr &&
                      snapshot.lids.top.value() < target.lft_size &&
                      snapshot.lids.top.value() <= target.max_lid_ho &&
                      target.num_ports == snapshot.fabric->num_ports(node) + 1;
    if (!fits)
      return fail(Errc::Unsupported,
                  fmt::format("OpenSM has no table for {} LIDs at switch {}",
                              snapshot.lids.top.value(),
                              snapshot.fabric->node_guid[node]));
  }
  return {};
}

bool write_hops(const Snapshot& snapshot, const SwitchGraph& graph, const HopMatrix& matrix) {
  const Fabric& fabric = *snapshot.fabric;
  for (const SwitchIdx sw : snapshot.switches.indices()) {
    osm_switch_t& at = *snapshot.switches[sw];
    for (const SwitchIdx to : snapshot.switches.indices()) {
      const Lid lid = snapshot.lids.base[fabric.port_of(fabric.switch_node[to], PortNum{0})];
      const std::uint8_t least = matrix.hops(sw, to);
      if (lid == kUnassignedLid || least == kNoPath) continue;
      // Allocates the row and sets its port 0, which holds the least of all.
      if (osm_switch_set_hops(&at, lid.value(), 0, least) != CL_SUCCESS) return false;
      std::uint8_t* const row = at.hops[lid.value()];
      for (const SwitchEdge& edge : graph.edges(sw)) {
        const unsigned hops = matrix.hops(edge.to, to) + 1u;
        row[edge.port.value()] = static_cast<std::uint8_t>(std::min(hops, kNoPath - 1u));
      }
    }
  }
  return true;
}

void write_tables(const Snapshot& snapshot, const ForwardingTables& tables) {
  for (const SwitchIdx sw : snapshot.switches.indices()) {
    osm_switch_t& at = *snapshot.switches[sw];
    const auto row = tables.row(sw).first(snapshot.lids.top.value() + std::size_t{1});
    std::ranges::transform(row, at.new_lft, [](PortNum port) { return port.value(); });
    std::fill(at.new_lft + row.size(), at.new_lft + at.lft_size, std::uint8_t{OSM_NO_PATH});
  }
}

bool hold_tables(const Snapshot& snapshot, const Routes& routes) {
  const std::size_t routed = routes.lids.top.value() + std::size_t{1};
  const auto same = [](PortNum port, std::uint8_t value) { return port.value() == value; };
  const auto is_empty = [](std::uint8_t value) { return value == OSM_NO_PATH; };
  for (const SwitchIdx sw : snapshot.switches.indices()) {
    const NodeIdx node = snapshot.fabric->switch_node[sw];
    const auto then = routes.fabric->find_node(snapshot.fabric->node_guid[node]);
    if (!then || !routes.fabric->is_switch(*then)) continue;
    const osm_switch_t& at = *snapshot.switches[sw];
    const std::span<const std::uint8_t> held{at.lft, at.lft_size};
    const auto row = routes.tables.lft.row(routes.fabric->switch_of[*then]).first(routed);
    // OpenSM has no use for the entry of LID 0.
    if (held.size() < routed ||
        !std::ranges::equal(row.subspan(1), held.subspan(1, routed - 1), same) ||
        !std::ranges::all_of(held.subspan(routed), is_empty))
      return false;
  }
  return true;
}

void keep_tables(const Snapshot& snapshot) {
  for (const osm_switch_t* const at : snapshot.switches)
    std::copy_n(at->lft, at->lft_size, at->new_lft);
}

ib_slvl_table_t to_opensm(const SlToVl& row) {
  ib_slvl_table_t table{};
  for (unsigned sl = 0; sl < row.size(); ++sl)
    ib_slvl_table_set(&table, static_cast<std::uint8_t>(sl), row[sl].value());
  return table;
}

}  // namespace smd::opensm

#include "smd/routing/itb/kept_lanes.h"

#include <algorithm>

namespace smd {
namespace {

// Rows of the switches of now in the tables in force; kNone for those that are new.
IndexVector<SwitchIdx, SwitchIdx> find_rows(const Fabric& now, const Fabric& before) {
  IndexVector<SwitchIdx, SwitchIdx> rows;
  for (const NodeIdx node : now.switch_node) {
    const auto known = before.find_node(now.node_guid[node]);
    rows.push_back(known ? before.switch_of[*known] : kNone<SwitchIdx>);
  }
  return rows;
}

// Of cables that share an edge, one that was there before; else port 0.
PortNum find_cable(const LaneWriting& now,
                   const PreviousRoutes& in_force,
                   SwitchIdx row,
                   std::uint32_t edge) {
  const Fabric& before = *in_force.fabric;
  const NodeIdx node = before.switch_node[row];
  for (const Cables::Cable& cable : now.cables.of(edge)) {
    if (cable.port.value() <= before.num_ports(node) &&
        before.peer[before.port_of(node, cable.port)] != kNone<PortIdx>)
      return cable.port;
  }
  return PortNum{0};
}

std::vector<std::uint8_t> find_lanes(const LaneWriting& now,
                                     const PreviousRoutes& in_force,
                                     const IndexVector<SwitchIdx, SwitchIdx>& rows) {
  const LaneMaps& before = in_force.routing->lanes;
  if (before.empty()) return {};
  const Dependencies turns{now.graph};
  std::vector<std::uint8_t> lanes(turns.size() * kSls, SlPlacer::kNoLane);
  for (const SwitchIdx sw : rows.indices()) {
    if (rows[sw] == kNone<SwitchIdx>) continue;
    const std::uint32_t first = now.graph.first_edge(sw);
    const auto end = first + static_cast<std::uint32_t>(now.graph.edges(sw).size());
    for (std::uint32_t out = first; out < end; ++out) {
      const PortNum to = find_cable(now, in_force, rows[sw], out);
      for (std::uint32_t back = first; back < end && to != PortNum{0}; ++back) {
        const PortNum from = find_cable(now, in_force, rows[sw], back);
        if (back == out || from == PortNum{0}) continue;
        const SlToVl& row = before.row(rows[sw], from, to);
        std::uint8_t* const wish =
            lanes.data() + turns.between(now.cables.reverse(back), out) * kSls;
        for (unsigned sl = 0; sl < kSls; ++sl) wish[sl] = row[sl].value();
      }
    }
  }
  return lanes;
}

}  // namespace

std::optional<KeptLanes> find_kept_lanes(const LaneWriting& now,
                                         const PreviousRoutes& in_force,
                                         unsigned offsets) {
  const RoutingTables& before = *in_force.routing;
  const std::size_t switches = now.graph.switches();
  if (before.lft.switches() != in_force.fabric->switch_count()) return std::nullopt;
  if (before.path_sls.empty() != before.lanes.empty()) return std::nullopt;  // SLs as layers
  const IndexVector<SwitchIdx, SwitchIdx> rows = find_rows(now.fabric, *in_force.fabric);
  KeptLanes kept{.trees = std::vector<SwitchTrees>(offsets, SwitchTrees{switches}),
                 .sls = std::vector<PairSls>(offsets, PairSls{switches}),
                 .lanes = find_lanes(now, in_force, rows),
                 .evenness = before.load.evenness};
  bool any = false;
  std::vector<std::uint32_t> edge_of(256, kNoEdge);  // by port
  ShortestSearch search{now.graph};
  NextHops hops;
  for (const SwitchIdx to : rows.indices()) {
    if (now.targets.of[to].empty()) continue;
    search.find(to, hops);
    for (std::size_t i = 0; i < hops.order.size(); ++i) {
      const SwitchIdx at = hops.order[i];
      if (rows[at] == kNone<SwitchIdx>) continue;
      for (std::uint32_t way = hops.first[i]; way < hops.first[i + 1]; ++way) {
        for (const Cables::Cable& cable : now.cables.of(hops.edges[way]))
          edge_of[cable.port.value()] = hops.edges[way];
      }
      for (unsigned o = 0; o < offsets; ++o) {
        const auto target = std::ranges::find_if(now.targets.of[to],
                                                 [&](const Target& t) { return o < 1u << t.lmc; });
        if (target == now.targets.of[to].end()) continue;
        const Lid lid{static_cast<std::uint16_t>(target->base.value() + o)};
        if (lid > before.lft.top()) continue;
        const std::uint32_t edge = edge_of[before.lft.route(rows[at], lid).value()];
        if (edge == kNoEdge) continue;
        kept.trees[o].set_edge(to, at, edge);
        any = true;
        if (!before.path_sls.empty()) kept.sls[o].set_sl(at, to, before.path_sls.sl(rows[at], lid));
      }
      std::ranges::fill(edge_of, kNoEdge);
    }
  }
  if (!any) return std::nullopt;
  return kept;
}

std::vector<Lid> list_changed(const Fabric& fabric,
                              const LidMap& lids,
                              const ForwardingTables& lft,
                              const PreviousRoutes& in_force) {
  const ForwardingTables& before = in_force.routing->lft;
  std::vector<char> differs(std::size_t{lids.top.value()} + 1, 0);
  const IndexVector<SwitchIdx, SwitchIdx> rows = find_rows(fabric, *in_force.fabric);
  for (const SwitchIdx sw : rows.indices()) {
    for (std::size_t value = 1; value < differs.size(); ++value) {
      const Lid lid{static_cast<std::uint16_t>(value)};
      if (rows[sw] == kNone<SwitchIdx> || lid > before.top() ||
          before.route(rows[sw], lid) != lft.route(sw, lid))
        differs[value] = 1;
    }
  }
  std::vector<Lid> changed;
  for (std::size_t value = 1; value < differs.size(); ++value) {
    const Lid lid{static_cast<std::uint16_t>(value)};
    if (differs[value] && lids.owner_of(lid) != kNone<PortIdx>) changed.push_back(lid);
  }
  return changed;
}

}  // namespace smd

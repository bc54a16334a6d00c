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
                 .sls = std::vector<PairSls>(offsets, PairSls{switches})};
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

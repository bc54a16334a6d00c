#include "smd/app/lane_job.h"

#include <algorithm>

#include "smd/routing/switch_rows.h"

namespace smd::app {
namespace {

constexpr std::uint8_t kSls = 16;

constexpr Duration kAsksAnew = std::chrono::seconds(60);

/// So many sets of routes are remembered; hosts that may use those of more may use any SL.
constexpr std::size_t kMostTold = 8;

// By `routing`, of the fabric `then`, from every switch that is on `now`.
void add_sls(
    const Fabric& then, const RoutingTables& routing, const Fabric& now, Lid top, SlSets& out) {
  const std::size_t switches = then.switch_count();
  for (const SwitchIdx sw : now.switch_node.indices()) {
    const auto node = then.find_node(now.node_guid[now.switch_node[sw]]);
    if (!node || !then.is_switch(*node)) continue;
    for (std::uint16_t l = 1; l <= top.value(); ++l) {
      const Lid lid{l};
      if (lid > routing.lft.top()) break;
      if (routing.path_sls.covers(switches, lid)) {
        out.add(sw, lid, routing.path_sls.sl(then.switch_of[*node], lid) & 15);
      } else {
        for (std::uint8_t sl = 0; sl < kSls; ++sl) out.add(sw, lid, sl);
      }
    }
  }
}

void add_all(const Fabric& fabric, Lid top, SlSets& out) {
  for (const SwitchIdx sw : fabric.switch_node.indices()) {
    for (std::uint16_t l = 1; l <= top.value(); ++l) {
      for (std::uint8_t sl = 0; sl < kSls; ++sl) out.add(sw, Lid{l}, sl);
    }
  }
}

/// A host's link may have fewer lanes; nothing waits in a circle there.
void set_apart(const Fabric& fabric, const MulticastLane& lane, LaneMaps& rows) {
  for (const SwitchIdx sw : fabric.switch_node.indices()) {
    for_each_way(fabric, sw, [&](PortNum in, PortNum out) {
      const unsigned lanes = count_lanes(fabric, fabric.port_of(fabric.switch_node[sw], out));
      SlToVl row = rows.row(sw, in, out);
      row[lane.sl] = Vl{static_cast<std::uint8_t>(lane.vl.value() % lanes)};
      rows.set_row(sw, in, out, rows.add_row(row));
    });
  }
}

}  // namespace

Told ToldSls::at(TimePoint now) const {
  std::vector<std::shared_ptr<const ActiveSubnet>> told;
  for (const Entry& entry : entries_) {
    if (entry.replaced && *entry.replaced + kAsksAnew <= now) continue;
    if (!entry.routes) return std::nullopt;
    told.push_back(entry.routes);
  }
  return told;
}

void ToldSls::tell(std::shared_ptr<const ActiveSubnet> routes,
                   bool complete,
                   bool silent,
                   TimePoint now) {
  std::erase_if(entries_, [&](const Entry& entry) {
    return (complete && silent) || (entry.routes && entry.routes->has_routes_of(*routes)) ||
           (entry.replaced && *entry.replaced + kAsksAnew <= now);
  });
  for (Entry& entry : entries_) {
    if (complete && !entry.replaced) entry.replaced = now;
  }
  if (entries_.size() >= kMostTold) entries_ = {{.routes = nullptr, .replaced = now}};
  entries_.push_back({std::move(routes), std::nullopt});
}

void ToldSls::refresh(const std::shared_ptr<const ActiveSubnet>& better) {
  for (Entry& entry : entries_) {
    if (entry.routes && entry.routes->has_routes_of(*better)) entry.routes = better;
  }
}

LaneMaps choose_rows(const Fabric& fabric,
                     const RoutingTables& routing,
                     const QosPolicy& qos,
                     const std::optional<MulticastLane>& apart) {
  const bool one_lane = routing.lanes.empty() && routing.vls <= 1;
  const SlToVl free_choice = modulo_row(apart ? apart->vl.value() : 15u);
  const SlToVl common = one_lane ? qos.row_of(PortKind::SwitchExternal).value_or(free_choice)
                                 : modulo_row(std::clamp(routing.vls, 1u, 15u));
  LaneMaps rows = build_switch_rows(fabric, routing.lanes, common);
  if (apart) set_apart(fabric, *apart, rows);
  return rows;
}

LaneTask build_lane_task(const ActiveSubnet& goal,
                         const Told& told,
                         const RowMemory& known,
                         std::size_t found,
                         const std::vector<Turn>& blocked) {
  const Fabric& fabric = goal.fabric();
  const Lid top = goal.routing->lft.top();
  LaneTask task{.told = {fabric.switch_count(), top},
                .wanted_sls = {fabric.switch_count(), top},
                .held = goal.rows,
                .wanted = goal.rows,
                .unknown = {}};
  add_sls(fabric, goal.routing, fabric, top, task.wanted_sls);
  if (told) {
    for (const auto& routes : *told)
      add_sls(routes->fabric(), routes->routing, fabric, top, task.told);
  } else {
    add_all(fabric, top, task.told);
  }
  for (const SwitchIdx sw : fabric.switch_node.indices()) {
    if (sw.value() >= found) continue;
    const Guid guid = fabric.node_guid[fabric.switch_node[sw]];
    const bool forwards = fabric.switch_info[sw].linear_fdb_top != 0;
    for_each_way(fabric, sw, [&](PortNum in, PortNum out) {
      const SlToVl* row = known.find(guid, in, out);
      if (std::ranges::binary_search(blocked, Turn{sw, in, out})) return;
      if (row != nullptr) {
        task.held.set_row(sw, in, out, task.held.add_row(*row));
      } else if (forwards) {
        task.unknown.push_back({sw, in, out});
      } else {
        task.fresh = true;
      }
    });
  }
  std::ranges::sort(task.unknown);
  return task;
}

}  // namespace smd::app

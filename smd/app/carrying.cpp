#include "smd/app/carrying.h"

#include <algorithm>

#include "smd/fabric/lingering.h"

namespace smd::app {
namespace {

std::uint32_t rank_of(const Orientation& orientation, Guid guid) {
  const auto found = std::ranges::lower_bound(
      orientation.by_guid, guid, {}, [](const auto& e) { return e.first; });
  return found != orientation.by_guid.end() && found->first == guid ? found->second : 0;
}

// Hosts at what lingers use the SLs that they were told.
PathSls sls_with_lingering(const Fabric& fabric,
                           const ActiveSubnet& now,
                           const ActiveSubnet& before) {
  PathSls sls{fabric.switch_count(), now.routing->lft.top()};
  for (const SwitchIdx sw : fabric.switch_node.indices()) {
    const bool known = sw.value() < now.fabric().switch_count();
    const Guid guid = fabric.node_guid[fabric.switch_node[sw]];
    const ActiveSubnet& from = known ? now : before;
    if (from.routing->path_sls.empty()) continue;
    const SwitchIdx there = known ? sw : from.fabric().switch_of[*from.fabric().find_node(guid)];
    const auto row = from.routing->path_sls.row(there);
    const auto to = sls.row(sw);
    std::copy_n(row.begin(), std::min(row.size(), to.size()), to.begin());
  }
  return sls;
}

// Rows of what lingers are those that it was given.
LaneMaps rows_with_lingering(const Fabric& fabric,
                             const ActiveSubnet& now,
                             const ActiveSubnet& before) {
  LaneMaps rows{fabric};
  rows.add_row(now.rows->rows().front());
  for (const SwitchIdx sw : fabric.switch_node.indices()) {
    const bool known = sw.value() < now.fabric().switch_count();
    const Guid guid = fabric.node_guid[fabric.switch_node[sw]];
    const ActiveSubnet& from = known ? now : before;
    if (from.rows->empty()) continue;
    const SwitchIdx there = known ? sw : from.fabric().switch_of[*from.fabric().find_node(guid)];
    const unsigned ports = fabric.num_ports(fabric.switch_node[sw]);
    for (unsigned in = 0; in <= ports; ++in) {
      for (unsigned out = 0; out <= ports; ++out) {
        const PortNum i{static_cast<std::uint8_t>(in)}, o{static_cast<std::uint8_t>(out)};
        rows.set_row(sw, i, o, rows.add_row(from.rows->row(there, i, o)));
      }
    }
  }
  return rows;
}

}  // namespace

std::shared_ptr<const ActiveSubnet> with_lingering(std::shared_ptr<const ActiveSubnet> now,
                                                   const ActiveSubnet& before) {
  if (now.get() == &before) return now;
  std::optional<Fabric> fabric = smd::with_lingering(now->fabric(), before.fabric());
  if (!fabric) return now;
  LidMap lids = now->lids;
  lids.base.resize(fabric->port_count(), kUnassignedLid);
  lids.lmc.resize(fabric->port_count());
  RoutingTables routing = now->routing;
  const bool oriented = !routing.orientation.by_guid.empty();
  const ForwardingTables& known = before.routing->lft;
  ForwardingTables lft(fabric->switch_count(), routing.lft.top());
  const std::size_t blocks = std::min(lft.blocks(), known.blocks());
  for (const SwitchIdx sw : fabric->switch_node.indices()) {
    if (sw.value() < routing.lft.switches()) {
      std::ranges::copy(routing.lft.row(sw), lft.row(sw).begin());
      continue;
    }
    const Guid guid = fabric->node_guid[fabric->switch_node[sw]];
    const SwitchIdx then = before.fabric().switch_of[*before.fabric().find_node(guid)];
    for (std::size_t block = 0; block < blocks; ++block)
      lft.set_block(sw, block, known.block(then, block));
    if (oriented) routing.orientation.rank.push_back(rank_of(before.routing->orientation, guid));
    if (!routing.default_port.empty()) routing.default_port.push_back(kNoRoute);
  }
  routing.lft = std::move(lft);
  if (!routing.path_sls.empty()) routing.path_sls = sls_with_lingering(*fabric, *now, before);
  if (oriented) {
    // By GUID too, so that the next plan finds the place of those that linger on.
    routing.orientation.by_guid.clear();
    for (const SwitchIdx sw : fabric->switch_node.indices())
      routing.orientation.by_guid.emplace_back(fabric->node_guid[fabric->switch_node[sw]],
                                               routing.orientation.rank[sw]);
    std::ranges::sort(routing.orientation.by_guid);
  }
  Shared<LaneMaps> rows = now->rows;
  if (!rows->empty()) rows = rows_with_lingering(*fabric, *now, before);
  SweepReport sweep = now->sweep;
  sweep.fabric = std::make_shared<const Fabric>(std::move(*fabric));
  return std::make_shared<const ActiveSubnet>(ActiveSubnet{.sweep = std::move(sweep),
                                                           .lids = std::move(lids),
                                                           .routing = std::move(routing),
                                                           .rows = rows,
                                                           .partitions = now->partitions,
                                                           .multicast_lane = now->multicast_lane});
}

std::shared_ptr<const ActiveSubnet> leave_alone(SwitchIdx first,
                                                const ActiveSubnet& carrying,
                                                HeldTables& held) {
  RoutingTables routing = carrying.routing;
  ForwardingTables& wanted = routing.lft;
  const auto lingers = [first](const TableBlock& block) { return block.sw >= first; };
  for (const TableBlock& block : held.unknown) {
    if (lingers(block))
      held.lft.set_block(block.sw, block.block, wanted.block(block.sw, block.block));
  }
  std::erase_if(held.unknown, lingers);
  for (SwitchIdx sw = first; sw.value() < wanted.switches(); sw = next(sw))
    std::ranges::copy(held.lft.row(sw), wanted.row(sw).begin());
  return std::make_shared<const ActiveSubnet>(
      ActiveSubnet{.sweep = carrying.sweep,
                   .lids = carrying.lids,
                   .routing = std::move(routing),
                   .rows = carrying.rows,
                   .partitions = carrying.partitions,
                   .multicast_lane = carrying.multicast_lane});
}

std::vector<PortIdx> find_ends_of_lingering(const Fabric& found, const Fabric& carrying) {
  std::vector<PortIdx> ends;
  for (const PortIdx port : found.peer.indices()) {
    if (found.peer[port] == kNone<PortIdx> && carrying.peer[port] != kNone<PortIdx>)
      ends.push_back(port);
  }
  return ends;
}

bool reaches_beyond(const Fabric& fabric, const TransitionPlan& plan) {
  const auto is_beyond = [&](const auto& item) { return item.sw.value() >= fabric.switch_count(); };
  const auto is_far_port = [&](PortIdx port) { return port.value() >= fabric.port_count(); };
  return std::ranges::any_of(plan.phases, [&](const TransitionPhase& phase) {
    return std::ranges::any_of(phase.block, is_beyond) ||
           std::ranges::any_of(phase.restore, is_beyond) ||
           std::ranges::any_of(phase.entries, is_beyond) ||
           std::ranges::any_of(phase.deactivate, is_far_port) ||
           std::ranges::any_of(phase.activate, is_far_port);
  });
}

}  // namespace smd::app

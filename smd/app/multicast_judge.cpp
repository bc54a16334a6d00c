#include "smd/app/multicast_judge.h"

#include <algorithm>

#include "smd/multicast/check_tree.h"
#include "smd/routing/check.h"
#include "smd/routing/lane_flow.h"
#include "smd/routing/table_turns.h"

namespace smd::app {
namespace {

void add_unicast_lanes(const ActiveSubnet& in_force, LaneFlow& flow, ChannelGraph& graph) {
  Walk walk(in_force.fabric(), in_force.routing->lft);
  for (unsigned value = 1; value <= in_force.lids->top.value(); ++value) {
    const Lid lid{static_cast<std::uint16_t>(value)};
    const PortIdx owner = in_force.lids->owner_of(lid);
    if (owner == kNone<PortIdx>) continue;
    walk.follow(lid, owner);
    flow.follow(lid, walk);
  }
  flow.add_to(graph);
}

}  // namespace

MulticastVerdict judge_multicast(const ActiveSubnet& in_force,
                                 const std::vector<TreesOfSl>& trees) {
  const RoutingTables& routing = in_force.routing;
  const auto verdict = [&](const ChannelGraph& graph) {
    const std::vector<ChannelStep> cycle = graph.find_cycle();
    return MulticastVerdict{
        .acyclic = cycle.empty(),
        .cycle = cycle.empty() ? std::string() : print_cycle(in_force.fabric(), cycle)};
  };
  if (in_force.multicast_lane) {
    ChannelGraph graph(in_force.fabric(), 1);
    for (const TreesOfSl& tree : trees) add_tree_turns(in_force.fabric(), tree.masks, 0, graph);
    return verdict(graph);
  }
  if (!routing.lanes.empty()) return {};
  const unsigned vls = std::max(1u, routing.vls);
  LaneFlow flow(in_force.fabric(), routing, nullptr, false);
  ChannelGraph graph(in_force.fabric(), vls == 1 ? 1 : std::max(vls, flow.vls()));
  if (vls == 1) {
    add_table_turns(in_force.fabric(), in_force.lids, routing.lft, graph);
  } else {
    add_unicast_lanes(in_force, flow, graph);
  }
  for (const TreesOfSl& tree : trees)
    add_tree_turns(in_force.fabric(), tree.masks, tree.sl % vls, graph);
  return verdict(graph);
}

}  // namespace smd::app

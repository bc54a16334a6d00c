#include "smd/manager/multicast_manager.h"

#include <algorithm>

#include "smd/multicast/check_tree.h"
#include "smd/routing/verify/channel_dependencies.h"
#include "smd/routing/verify/check_routes.h"
#include "smd/routing/verify/vl_flow.h"

namespace smd {

namespace {

void add_unicast_lanes(const ActiveSubnet& in_force, VlFlow& flow, ChannelGraph& graph) {
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

MulticastVerdict check_multicast_deadlock(const ActiveSubnet& in_force,
                                          const std::vector<TreesOfSl>& trees,
                                          CopyModel copies) {
  const RoutingTables& routing = in_force.routing;
  const auto verdict = [&](const ChannelGraph& graph, unsigned vls_of_trees) {
    std::vector<ChannelStep> cycle = graph.find_cycle();
    if (cycle.empty() && copies == CopyModel::LockStep) {
      std::vector<MasksOnVl> all;
      for (const TreesOfSl& tree : trees) all.push_back({tree.masks, tree.sl % vls_of_trees});
      cycle = find_lock_step_cycle(in_force.fabric(), graph, all);
    }
    return MulticastVerdict{
        .acyclic = cycle.empty(),
        .cycle = cycle.empty() ? std::string() : print_cycle(in_force.fabric(), cycle)};
  };
  const auto judge_trees = [&] {
    ChannelGraph graph(in_force.fabric(), 1);
    for (const TreesOfSl& tree : trees) add_tree_turns(in_force.fabric(), tree.masks, 0, graph);
    MulticastVerdict alone = verdict(graph, 1);
    alone.of_trees = alone.acyclic == false;
    return alone;
  };
  if (in_force.multicast_vl) return judge_trees();
  // What a lane of their own would not cure is said first.
  if (copies == CopyModel::LockStep) {
    if (MulticastVerdict alone = judge_trees(); alone.acyclic == false) return alone;
  }
  if (!routing.sl_to_vl.empty()) {
    MulticastVerdict open;
    for (const TreesOfSl& tree : trees) {
      if (open.discarded.empty())
        open.discarded = find_discarding_row(in_force.fabric(), in_force.rows, tree.masks, tree.sl);
    }
    return open;
  }
  const unsigned vls = std::max(1u, routing.vls);
  VlFlow flow(in_force.fabric(), routing, nullptr, false);
  ChannelGraph graph(in_force.fabric(), vls == 1 ? 1 : std::max(vls, flow.vls()));
  if (vls == 1) {
    add_table_turns(in_force.fabric(), in_force.lids, routing.lft, graph);
  } else {
    add_unicast_lanes(in_force, flow, graph);
  }
  for (const TreesOfSl& tree : trees)
    add_tree_turns(in_force.fabric(), tree.masks, tree.sl % vls, graph);
  return verdict(graph, vls);
}

}  // namespace smd

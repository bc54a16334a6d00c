// What every engine for a regular fabric must hold.
#pragma once

#include <gtest/gtest.h>

#include "smd/routing/graph/switch_graph.h"
#include "smd/routing/nue/turn_record.h"
#include "smd/routing/verify/check_routes.h"
#include "tests/unit/routing/support/paths.h"
#include "tests/unit/routing/support/reshaped.h"

namespace smd::test {

/// Complete, free of loops and of credit loops, within the lanes stated.
inline RouteReport expect_sound(const Fabric& f, const LidMap& lids, const RoutingTables& tables) {
  const RouteReport report = check_routes(f, lids, tables);
  EXPECT_EQ(report.first_faults, std::vector<std::string>{}) << tables.engine;
  EXPECT_TRUE(report.ok()) << print_cycle(f, report.cycle);
  EXPECT_LE(report.vls, tables.vls);
  return report;
}

/// Every pair of switches with hosts goes a shortest way.
inline void expect_shortest_between_hosts(const Fabric& fabric,
                                          const LidMap& lids,
                                          const RoutingTables& tables) {
  const SwitchGraph graph{fabric};
  const Targets targets = find_targets(fabric, lids);
  for (const TargetLid& to : list_served_lids(targets)) {
    if (targets.hosts[to.last] == 0 || to.egress == PortNum{0}) continue;
    const auto distance = compute_distances(graph, {&to.last, 1});
    for (const SwitchIdx from : distance.indices()) {
      if (targets.hosts[from] == 0) continue;
      const std::string& name = fabric.description[fabric.switch_node[from]];
      EXPECT_EQ(path(fabric, tables.lft, name, to.lid).size(), distance[from] + 1) << name;
    }
  }
}

/// Those that every port had before, when there were more of them.
inline LidMap lids_as_before(const Fabric& now, const Fabric& before, const LidMap& lids) {
  LidMap map = make_lid_map(now);
  for (const PortIdx port : now.peer.indices()) {
    if (!now.is_end_port(port)) continue;
    const NodeIdx node = before.find_node(now.node_guid[now.node_of[port]]).value();
    const PortIdx was = before.port_of(node, now.number_of(port));
    set_lid(map, port, lids.base[was], lids.lmc[was]);
  }
  return map;
}

/// Answers travel on the SL of the question, so both ways have the same.
inline void expect_same_sl_in_both_directions(const Fabric& f,
                                              const LidMap& lids,
                                              const RoutingTables& tables) {
  if (tables.path_sls.empty()) return;
  const auto lid_of = [&](SwitchIdx sw) {
    return lids.base[f.port_of(f.switch_node[sw], PortNum{0})];
  };
  for (const SwitchIdx a : f.switch_node.indices()) {
    for (const SwitchIdx b : f.switch_node.indices()) {
      if (a.value() >= b.value()) continue;
      EXPECT_EQ(tables.path_sls.sl(a, lid_of(b)), tables.path_sls.sl(b, lid_of(a)))
          << f.description[f.switch_node[a]] << " " << f.description[f.switch_node[b]];
    }
  }
}

}  // namespace smd::test

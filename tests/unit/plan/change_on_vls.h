// Random changes whose routes need several VLs, before them or afterwards.
#pragma once

#include <optional>
#include <string>

#include "smd/routing/sl_to_vl.h"
#include "tests/unit/plan/random_change.h"

namespace smd::test {

inline SlSets sls_of(const Fabric& then, const RoutingTables& routes, const Fabric& now, Lid top) {
  SlSets sets{now.switch_count(), top};
  for (const SwitchIdx sw : now.switch_node.indices()) {
    const auto node = then.find_node(now.node_guid[now.switch_node[sw]]);
    for (std::uint16_t l = 1; node && l <= routes.lft.top().value() && l <= top.value(); ++l) {
      for (std::uint8_t sl = 0; sl < 16; ++sl) {
        if (routes.path_sls.empty() || routes.path_sls.sl(then.switch_of[*node], Lid{l}) == sl)
          sets.add(sw, Lid{l}, sl);
      }
    }
  }
  return sets;
}

inline SlToVlMaps rows_of(const Fabric& fabric, const RoutingTables& routes) {
  return build_switch_rows(fabric, routes.sl_to_vl, modulo_row(routes.vls));
}

inline SlToVlTask lane_task_of(const Change& change) {
  const Fabric& then = *change.before;
  const Fabric& now = *change.after;
  const Lid top = change.new_routes.lft.top();
  const SlToVlMaps before = rows_of(then, change.old_routes);
  SlToVlTask task{.advertised = sls_of(then, change.old_routes, now, top),
                  .wanted_sls = sls_of(now, change.new_routes, now, top),
                  .held = SlToVlMaps{now},
                  .wanted = rows_of(now, change.new_routes),
                  .unknown = {}};
  task.held.add_row(modulo_row(8));
  for (const SwitchIdx sw : now.switch_node.indices()) {
    const auto node = then.find_node(now.node_guid[now.switch_node[sw]]);
    for_each_turn(now, sw, [&](PortNum in, PortNum out) {
      if (node)
        task.held.set_row(
            sw, in, out, task.held.add_row(before.row(then.switch_of[*node], in, out)));
    });
  }
  return task;
}

/// None when the engine refuses the fabric, or one VL will do before and afterwards.
inline std::optional<Change> draw_change_on_lanes(Draw& draw,
                                                  const std::string& engine,
                                                  Keeps& keeps) {
  Drawn drawn = draw_change(draw);
  if (drawn.spec.switches > 32) return std::nullopt;
  drawn.spec.old_engine = drawn.spec.new_engine = engine;
  if (drawn.keeps == Keeps::Nothing) drawn.spec.new_engine = engine == "dfsssp" ? "lash" : "dfsssp";
  drawn.spec.old_roots.clear();
  drawn.spec.new_roots.clear();
  drawn.spec.keep_routes = drawn.keeps != Keeps::Nothing;
  keeps = drawn.keeps;
  std::optional<Change> change = try_change(drawn.spec);
  if (!change) return std::nullopt;
  const auto vls = [](const RoutingTables& routes) {
    return routes.vls > 1 || !routes.sl_to_vl.empty();
  };
  if (!vls(change->old_routes) && !vls(change->new_routes)) return std::nullopt;
  return change;
}

}  // namespace smd::test

// Fabrics with tables in them, and what a change makes of both.
#pragma once

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "smd/plan/transition.h"
#include "smd/routing/engine.h"
#include "tests/support/fabric_text.h"

namespace smd::test {

/// LIDs that do not move: by the number of a switch, and by number and port of a host.
inline LidMap steady_lids(const Fabric& fabric, unsigned switches, unsigned ports_per_host = 1) {
  LidMap map = make_lid_map(fabric);
  for (const PortIdx port : fabric.peer.indices()) {
    if (!fabric.is_end_port(port)) continue;
    const NodeIdx node = fabric.node_of[port];
    const unsigned number = static_cast<unsigned>(std::stoul(fabric.description[node].substr(1)));
    const unsigned lid = fabric.is_switch(node) ? number
                                                : switches + (number - 1) * ports_per_host +
                                                      fabric.number_of(port).value();
    set_lid(map, port, Lid{static_cast<std::uint16_t>(lid)}, 0);
  }
  return map;
}

/// What switches of `now` hold when those of `before` held `tables`: by name, new ones nothing.
inline ForwardingTables carry_over(const Fabric& before,
                                   const ForwardingTables& tables,
                                   const Fabric& now,
                                   Lid top) {
  ForwardingTables held{now.switch_count(), std::max(top, tables.top())};
  for (const SwitchIdx sw : now.switch_node.indices()) {
    const auto node = before.find_node(now.node_guid[now.switch_node[sw]]);
    if (!node) continue;
    for (std::size_t block = 0; block < tables.blocks(); ++block)
      held.set_block(sw, block, tables.block(before.switch_of[*node], block));
  }
  return held;
}

/// A change: the fabric before it with tables of one engine, after it with tables of another.
struct Change {
  std::shared_ptr<const Fabric> before, after;
  LidMap lids_before, lids_after;
  RoutingTables old_routes, new_routes;
  ForwardingTables held;

  TransitionTask task() const {
    return {.fabric = after.get(),
            .lids = &lids_after,
            .held = &held,
            .wanted = &new_routes.lft,
            .unknown = {},
            .blocked = {},
            .orientation = new_routes.orientation.rank.empty() ? nullptr : &new_routes.orientation};
  }
};

struct ChangeSpec {
  std::string before, after;  // fabrics; what is new in `after` is fresh: S1~S2
  unsigned switches = 0;      // numbers S1 … this one
  unsigned ports_per_host = 1;
  std::string old_engine = "updn", new_engine = "updn";
  std::vector<Guid> old_roots, new_roots;
  bool keep_orientation = true;
  bool keep_routes = false;  // where they still hold
};

inline Guid switch_guid(unsigned number) { return Guid{0x1000 + number}; }

/// None when an engine refuses.
inline std::optional<Change> try_change(const ChangeSpec& spec) {
  Change change{.before = fabric_from_shared(spec.before), .after = fabric_from_shared(spec.after)};
  change.lids_before = steady_lids(*change.before, spec.switches, spec.ports_per_host);
  change.lids_after = steady_lids(*change.after, spec.switches, spec.ports_per_host);
  auto old_routes =
      find_engine(spec.old_engine)
          ->compute(*change.before, change.lids_before, {.options = {.roots = spec.old_roots}});
  if (!old_routes) return std::nullopt;
  change.old_routes = std::move(*old_routes);
  const Orientation* kept = spec.keep_orientation ? &change.old_routes.orientation : nullptr;
  const PreviousRoutes in_force{change.before.get(), &change.lids_before, &change.old_routes};
  auto new_routes =
      find_engine(spec.new_engine)
          ->compute(*change.after,
                    change.lids_after,
                    {.options = {.roots = spec.new_roots},
                     .previous = kept != nullptr && !kept->by_guid.empty() ? kept : nullptr,
                     .in_force = spec.keep_routes ? &in_force : nullptr});
  if (!new_routes) return std::nullopt;
  change.new_routes = std::move(*new_routes);
  change.held =
      carry_over(*change.before, change.old_routes.lft, *change.after, change.new_routes.lft.top());
  return change;
}

inline Change make_change(const ChangeSpec& spec) { return try_change(spec).value(); }

}  // namespace smd::test

// Tables by hand: "S1>H3=S2" says that S1 sends packets for H3 towards S2. Hosts have the LIDs of
// their numbers; switches have none.
#pragma once

#include <sstream>
#include <string>
#include <string_view>

#include "smd/plan/transition.h"
#include "tests/support/fabric_text.h"

namespace smd::test {

inline LidMap host_lids(const Fabric& fabric) {
  LidMap map = make_lid_map(fabric);
  for (const NodeIdx node : fabric.node_guid.indices()) {
    if (fabric.is_switch(node)) continue;
    const std::string& name = fabric.description[node];
    set_lid(map,
            end_port(fabric, name),
            Lid{static_cast<std::uint16_t>(std::stoul(name.substr(1)))},
            0);
  }
  return map;
}

/// The lowest port of `from` with a link to `to`.
inline PortIdx port_towards(const Fabric& fabric, std::string_view from, std::string_view to) {
  const NodeIdx target = node(fabric, to);
  for (const PortIdx port : fabric.external_ports(node(fabric, from))) {
    if (fabric.peer[port] != kNone<PortIdx> && fabric.node_of[fabric.peer[port]] == target)
      return port;
  }
  return kNone<PortIdx>;
}

/// What `base` says, but for the entries that the text names.
inline ForwardingTables tables_from(const Fabric& fabric,
                                    std::string_view text,
                                    const ForwardingTables& base) {
  ForwardingTables tables = base;
  std::istringstream tokens{std::string{text}};
  for (std::string token; tokens >> token;) {
    const std::size_t above = token.find('>'), equals = token.find('=');
    const std::string at = token.substr(0, above);
    const std::string to = token.substr(above + 2, equals - above - 2);
    const PortIdx out = port_towards(fabric, at, token.substr(equals + 1));
    tables.set_route(switch_named(fabric, at),
                     Lid{static_cast<std::uint16_t>(std::stoul(to))},
                     out == kNone<PortIdx> ? kNoRoute : fabric.number_of(out));
  }
  return tables;
}

inline ForwardingTables tables_from(const Fabric& fabric, std::string_view text, unsigned top = 9) {
  return tables_from(
      fabric, text, ForwardingTables{fabric.switch_count(), Lid{static_cast<std::uint16_t>(top)}});
}

/// Both tables and what they stand on, alive together.
struct HandMade {
  std::shared_ptr<const Fabric> fabric;
  LidMap lids;
  ForwardingTables held, wanted;
  std::vector<TableBlock> unknown;
  std::vector<Turn> blocked;
  Orientation orientation;

  HandMade(std::string_view links, std::string_view before, std::string_view after)
      : fabric(fabric_from_shared(links)),
        lids(host_lids(*fabric)),
        held(tables_from(*fabric, before)),
        wanted(tables_from(*fabric, after, held)) {}

  TransitionTask task() const {
    return {.fabric = fabric.get(),
            .lids = &lids,
            .held = &held,
            .wanted = &wanted,
            .unknown = unknown,
            .blocked = blocked,
            .orientation = orientation.rank.empty() ? nullptr : &orientation};
  }

  Turn turn(std::string_view from, std::string_view at, std::string_view to) const {
    return {switch_named(*fabric, at),
            fabric->number_of(port_towards(*fabric, at, from)),
            fabric->number_of(port_towards(*fabric, at, to))};
  }
};

}  // namespace smd::test

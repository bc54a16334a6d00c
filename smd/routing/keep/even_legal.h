// Makes tables of up*/down* routes as even after a change as they would be from scratch.
#pragma once

#include <vector>

#include "smd/routing/keep/channel_loads.h"
#include "smd/routing/keep/port_changes.h"
#include "smd/routing/keep/route_state.h"

namespace smd {

struct LegalTables {
  RouteState& routes;
  const ForwardingTables& tables;
  const std::vector<Destination>& destinations;
  const PreviousRoutes& before;
  const PortChanges& changes;
  bool relieve;  // what could stay may move
};

/// By edge, as ChannelLoads counts: all LIDs and all links alike. From what is known of the tables
/// in force and the entries that differ; else nothing.
[[nodiscard]] std::vector<std::uint64_t> find_changed_loads(const LegalTables& of);

/// Where the loads of routes from scratch are known, and if asked to: takes paths off the channels
/// that carry more than any did then, over ways that are no longer, and legal. Returns what is
/// known of the loads then. `load`: by edge.
[[nodiscard]] LoadRecord even_legal(const LegalTables& of, std::vector<std::uint64_t> load);

/// Of tables from scratch; `load` by edge. Nothing where ports or links do not count alike.
[[nodiscard]] LoadRecord record_legal_loads(const OrientedFabric& oriented,
                                            const std::vector<Destination>& destinations,
                                            std::vector<std::uint64_t> load);

}  // namespace smd

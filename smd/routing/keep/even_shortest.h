// Makes tables of shortest paths as even after a change as they would be from scratch.
#pragma once

#include <vector>

#include "smd/routing/keep/lft_trees.h"
#include "smd/routing/keep/port_changes.h"

namespace smd {

struct ShortestTables {
  const SwitchGraph& graph;
  const Targets& targets;
  const std::vector<std::uint32_t>& costs;  // by edge
  const std::vector<Destination>& destinations;
  const ForwardingTables& tables;
};

/// The tables before the change.
struct TablesInForce {
  const SwitchGraph& graph;
  const RoutingTables& routing;
  const PortChanges& changes;  // since then
};

/// Takes paths off the fullest channels, for each LID offset by itself. Entries that the change has
/// altered anyhow move as long as that helps; others only where the fullest channel would else
/// carry more than one does from scratch. Returns what is known of the loads then.
/// Requires: shortest paths. Ensures: shortest paths.
[[nodiscard]] LoadRecord even_shortest(const IndexVector<SwitchIdx, Guid>& guids,
                                       const ShortestTables& routes,
                                       const TablesInForce& before,
                                       Entries& entries);

/// Of tables from scratch; `load` by edge, paths to LIDs of offset 0.
[[nodiscard]] LoadRecord record_loads(const IndexVector<SwitchIdx, Guid>& guids,
                                      const Targets& targets,
                                      const std::vector<std::uint32_t>& costs,
                                      const std::vector<Destination>& destinations,
                                      std::vector<std::uint64_t> load);

}  // namespace smd

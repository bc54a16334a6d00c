// Shortest routes after a change: every entry that still is on a shortest path stays.
#pragma once

#include <optional>

#include "smd/routing/keep/keep_routes.h"

namespace smd {

/// Requires: the tables in force are shortest paths to every LID.
/// Ensures: shortest paths, complete for every LID in `lids`.
/// - An entry changes only if its port does not lead along a shortest path any more, to let a link
///   that came up, or a switch that came nearer, have its share, or to relieve the fullest
///   channels.
/// - LIDs that nobody has keep their entries, unless the port leads elsewhere.
/// The tables never get shorter. Nullopt: so much is new that keeping the rest is not worth it.
[[nodiscard]] std::optional<KeptRoutes> keep_shortest(const Fabric& fabric,
                                                      const LidMap& lids,
                                                      const SwitchGraph& graph,
                                                      const Targets& targets,
                                                      const std::vector<std::uint32_t>& costs,
                                                      const PreviousRoutes& in_force);

}  // namespace smd

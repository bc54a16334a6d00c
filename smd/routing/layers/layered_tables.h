// Trees and the lanes of their paths as what is written: entries, and an SL for every path.
#pragma once

#include <string_view>

#include "smd/routing/engine.h"
#include "smd/routing/layers/balanced_trees.h"
#include "smd/routing/layers/layering.h"

namespace smd {

/// SL and VL are the number of the lane; no SLs where one lane is enough.
/// Requires: `layering` has assigned `vls` lanes to the paths of `trees`.
[[nodiscard]] RoutingTables make_layered_tables(std::string_view engine,
                                                const SwitchGraph& graph,
                                                const Targets& targets,
                                                const BalancedTrees& trees,
                                                const Layering& layering,
                                                unsigned vls);

/// Data VLs that the routes may use: what the request says, else what the links have.
[[nodiscard]] unsigned find_lane_budget(const Fabric& fabric, const RoutingRequest& request);

/// The reason why an engine refuses. `needed`: nothing if even kMostLanes are too few.
[[nodiscard]] Error refuse_for_lanes(std::optional<unsigned> needed, unsigned budget);

inline constexpr unsigned kMostLanes = 15;

}  // namespace smd

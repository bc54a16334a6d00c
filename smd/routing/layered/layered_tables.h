// Tables of layered routes: entries, and an SL for every path; from scratch or out of those in
// force.
#pragma once

#include <optional>
#include <string_view>

#include "smd/routing/engine.h"
#include "smd/routing/layered/balanced_trees.h"
#include "smd/routing/layered/layering.h"

namespace smd {

// Trees and the layers of their paths as what is written: entries, and an SL for every path.

/// SL and VL are the number of the layer; no SLs where one layer is enough.
/// Requires: `layering` has assigned `vls` layers to the paths of `trees`.
[[nodiscard]] RoutingTables make_layered_tables(std::string_view engine,
                                                const SwitchGraph& graph,
                                                const Targets& targets,
                                                const BalancedTrees& trees,
                                                const Layering& layering,
                                                unsigned vls);

/// Data VLs that the routes may use: what the request says, else what the links have.
[[nodiscard]] unsigned find_vl_budget(const Fabric& fabric, const RoutingRequest& request);

/// The reason why an engine refuses. `needed`: nothing if even kMostVls are too few.
[[nodiscard]] Error refuse_for_vls(std::optional<unsigned> needed, unsigned budget);

inline constexpr unsigned kMostVls = 15;

inline constexpr std::string_view kLongerNote =
    "some paths are longer than the shortest, so that hosts keep the SLs that they were told";

// Layered routes in force, taken over to a fabric that has changed.

/// Trees keep every next hop that still leads to its LID, and paths keep their SL where the change
/// leaves any that has it, see tree_repair.h; RoutingTables::recomputed has the LIDs for which an
/// entry or an SL differs. A note says where paths are longer than the shortest. Requires: the
/// routes in force are layered ones, of the same engine. Nothing: the layers in force and what has
/// changed do not go together; start from scratch.
[[nodiscard]] std::optional<RoutingTables> update_layered_tables(std::string_view engine,
                                                                 const Fabric& fabric,
                                                                 const LidMap& lids,
                                                                 const RoutingRequest& request,
                                                                 TreePer per,
                                                                 Bundle bundle);

}  // namespace smd

// Tables of layered routes: entries, and an SL for every path; from scratch or out of those in
// force.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "smd/routing/engine.h"
#include "smd/routing/layered/balanced_trees.h"
#include "smd/routing/layered/layering.h"
#include "smd/routing/layered/tree_grower.h"

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
/// leaves any that has it (tree_repair.cpp); RoutingTables::recomputed has the LIDs for which an
/// entry or an SL differs. A note says where paths are longer than the shortest. Requires: the
/// routes in force are layered ones, of the same engine. Nothing: the layers in force and what has
/// changed do not go together; start from scratch.
[[nodiscard]] std::optional<RoutingTables> update_layered_tables(std::string_view engine,
                                                                 const Fabric& fabric,
                                                                 const LidMap& lids,
                                                                 const RoutingRequest& request,
                                                                 TreePer per,
                                                                 Bundle bundle);

// The in-trees in force, on a fabric that has changed since: repaired and rebalanced.

struct RepairedTrees {
  Targets targets;  // those that are gone included, while the switch that served them is there
  BalancedTrees balanced;
  std::unique_ptr<OrientedFabric> oriented;      // for detours; null where there are none
  Imbalance imbalance;                           // to hand on
  IndexVector<SwitchIdx, SwitchIdx> row_before;  // of a switch, in the tables in force
  IndexVector<SwitchIdx, char> led_around;       // roots that detours lead to
  std::vector<std::uint8_t> before;              // slots in force, as InTrees has them
  /// By tree: one of its LIDs that the root served before, so that the entries in force are those
  /// of the tree; kUnassignedLid: they are new or have moved.
  std::vector<Lid> lid_before;
};

/// Takes over every next hop that still leads to the destination; the others are none. A LID that
/// nobody has any more keeps its tree, so that who comes back finds it.
[[nodiscard]] RepairedTrees take_trees_over(const Fabric& fabric,
                                            const LidMap& lids,
                                            const SwitchGraph& graph,
                                            const RoutingRequest& request,
                                            TreePer per);

/// Completes them. Next hops are found as TreeSearch does it, within the layers that paths have;
/// links that came up shorten paths and get some that others let go of, as long as that evens the
/// loads and every path keeps its layer. Then the fullest channels are rebalanced, see
/// rebalance_trees(). Detours to switches without hosts are kept along the orientation in force, as
/// far as it holds. Almost minimal paths stay as they are; those that break, and those of switches
/// at links that came up, are led apart anew as far as every path keeps its layer.
/// `layering`: of these trees, with the layers that paths have had; those that do not fit theirs
/// any more are reopened. False: the layers in force have a cycle.
[[nodiscard]] bool repair_trees(const Fabric& fabric,
                                const SwitchGraph& graph,
                                const RoutingRequest& request,
                                RepairedTrees& repaired,
                                Layering& layering);

}  // namespace smd

// Shortest paths on trees: those of hosts go up and then down and cannot wait for each other in a
// circle. Those from one switch without hosts to another go down and up again, and may close one.
// Nearly nothing is sent there but SMPs, yet GMPs and what an enhanced port 0 sends take a data VL
// like any packet, so they are led elsewhere instead of being left out of the count.
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

#include "smd/fabric/fabric.h"
#include "smd/routing/engine.h"
#include "smd/routing/graph/switch_graph.h"
#include "smd/routing/layered/balanced_trees.h"
#include "smd/routing/tables.h"

namespace smd {

/// Chooses again, where the dependencies of tables for one VL between channels have a cycle:
/// entries for LIDs of switches, and of other LIDs those that no packet of a host, of a router or
/// of the manager's own port meets. What hosts send to hosts stays as it is. Paths between switches
/// may become longer than need be; no pair loses its path. Requires: the tables lead to every LID
/// of `lids`, without loops, wherever there is a path. False, and nothing is changed, when there is
/// no cycle, when hosts' own paths close one, when no choice was found, or when packets do not stay
/// on one VL. Where nothing else helps, switches with up to `beside` hosts count as without any.
[[nodiscard]] bool lead_switches_apart(const Fabric& fabric,
                                       const LidMap& lids,
                                       RoutingTables& tables,
                                       std::size_t beside = 1);

/// Counts the turns of tables that close no cycle on one VL as they are, for keep_switches_apart().
/// Requires: as lead_switches_apart(). False, and nothing is changed, when they close one, or when
/// packets do not stay on one VL.
[[nodiscard]] bool record_turns(const Fabric& fabric, const LidMap& lids, RoutingTables& tables);

/// The same as lead_switches_apart() for tables that an engine made out of routes in force which
/// that led, or whose turns are recorded: of what differs from those, entries that no packet of a
/// host meets are chosen again, as in force where that can be. Requires: `tables` are complete and
/// without loops as above. False, and nothing is changed, when nobody knows the turns of the routes
/// in force, or when what changed closes a cycle: then all paths between switches have to be chosen
/// again.
[[nodiscard]] bool keep_switches_apart(const PreviousRoutes& in_force,
                                       const Fabric& fabric,
                                       const LidMap& lids,
                                       RoutingTables& tables);

/// Routes of an engine that lays shortest paths on as few VLs as they take, where one is enough:
/// `trees`, evened once more where that carries less on the fullest channel, as they are or with
/// those to switches without hosts led around along up*/down* paths, or else apart as by
/// lead_switches_apart(). Fat trees take this way out. Turns are recorded. Nothing where paths of
/// hosts close a cycle, where no choice is found, or where switches without hosts only wait for
/// them, as on a torus that is being switched on. Requires: `trees` as
/// build_balanced_trees() has them.
[[nodiscard]] std::optional<RoutingTables> lay_on_one_vl(std::string_view engine,
                                                         const Fabric& fabric,
                                                         const LidMap& lids,
                                                         const SwitchGraph& graph,
                                                         const Targets& targets,
                                                         const RoutingRequest& request,
                                                         const BalancedTrees& trees);

/// The same for engines that have other trees elsewhere: a tree for every LID. Nothing where all
/// switches have hosts, or wait for them, or cables close an odd ring, as none do in a fat tree,
/// whole or not: there the engine's own routes may be more even.
[[nodiscard]] std::optional<RoutingTables> lay_tree_on_one_vl(std::string_view engine,
                                                              const Fabric& fabric,
                                                              const LidMap& lids,
                                                              const RoutingRequest& request);

/// What such an engine makes of a change, on fabrics with switches without hosts and while one VL
/// is enough: of those in force the entries that a change breaks (update_shortest()), as
/// keep_switches_apart() lets them, hosts' paths on other shortest ways where it must be; else
/// paths between switches are chosen again. Nothing where that does not do, or turns were not
/// recorded. Requires: routes in force, of this engine.
[[nodiscard]] std::optional<RoutingTables> update_on_one_vl(std::string_view engine,
                                                            const Fabric& fabric,
                                                            const LidMap& lids,
                                                            const RoutingRequest& request);

/// Paths between switches were led apart by no directions: other updates than those cannot keep
/// them.
[[nodiscard]] bool stay_apart_on_one_vl_only(const RoutingTables& in_force);

}  // namespace smd

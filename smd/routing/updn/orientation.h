// Which end of every switch-to-switch link is up, for up*/down* routing.
//
// Switches are ordered by (rank, GUID); up leads towards the front of that order. Every switch
// reaches every other one legally (up, then down) exactly when an island has one *top*: a switch
// without an up link. From several tops none could reach another.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "smd/routing/engine.h"
#include "smd/routing/graph/switch_graph.h"
#include "smd/routing/tables.h"
#include "smd/routing/updn/up_down.h"

namespace smd {

struct OrientationRequest {
  std::span<const Guid> roots;            // empty: chosen by trial
  const Orientation* previous = nullptr;  // comes before roots where it knows a switch
  OrientationSearch search = OrientationSearch::BreadthFirst;
  RootChoice root_choice = RootChoice::Trial;
};

struct OrientationResult {
  Orientation orientation;
  std::vector<Guid> altered;  // known switches that could not keep their rank
  std::vector<std::string> notes;
};

/// Ensures: one top per island. Known switches keep their rank except where links that are gone
/// left several tops; new ones come one below their highest neighbour.
///
/// Without roots or with roots that leave several tops, the root is chosen by trial: for each
/// distance from the hosts the most central switch routes a sample of the traffic, and the one
/// with the shortest and most even load wins. In fat trees that is a leaf: from a core, up*/down*
/// would lead all traffic between pods through that one core, from a leaf it allows every shortest
/// path. Depth-first chooses its root by the turns that it forbids.
[[nodiscard]] OrientationResult orient(const SwitchGraph& graph,
                                       const IndexVector<SwitchIdx, Guid>& guids,
                                       const Targets& targets,
                                       const OrientationRequest& request);

// What every up*/down* engine starts from: the graph, who sits where, and which way is up.

struct OrientedFabric {
  OrientedFabric(const Fabric& fabric,
                 const LidMap& lids,
                 std::span<const Guid> roots,
                 const Orientation* previous);

  OrientedFabric(const Fabric& fabric, const LidMap& lids, const OrientationRequest& request);

  SwitchGraph graph;
  std::vector<std::uint32_t> costs;  // by edge, see find_link_costs()
  Targets targets;
  IndexVector<SwitchIdx, Guid> guids;
  OrientationResult oriented;
  UpDownGraph up_down;
};

/// The roots of the request; without any the switch that the manager sits on or is linked to, if
/// there is one.
[[nodiscard]] std::vector<Guid> roots_or_manager(const Fabric& fabric,
                                                 const RoutingRequest& request);

/// Takes the orientation and what is to be said of it.
[[nodiscard]] RoutingTables begin_tables(std::string_view engine,
                                         ForwardingTables lft,
                                         OrientedFabric& oriented);

}  // namespace smd

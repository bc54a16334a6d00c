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

[[nodiscard]] Orientation make_orientation(const IndexVector<SwitchIdx, Guid>& guids,
                                           IndexVector<SwitchIdx, std::uint32_t> rank);

/// Ensures: one top per island. Known switches keep their rank except where links that are gone
/// left several tops; new ones come one below their highest neighbour.
///
/// Without roots the root is chosen by trial: for each distance from the hosts the most central
/// switch routes a sample of the traffic, and the one with the shortest and most even load wins. In
/// fat trees that is a leaf: from a core, up*/down* would lead all traffic between pods through
/// that one core, from a leaf it allows every shortest path. Roots all stand on the top level;
/// where that leaves several tops they are connected (islands.h), and if the sample then flows
/// worse than from the root chosen by trial, that one is taken and a note says so. Depth-first
/// chooses its root by the turns that it forbids.
[[nodiscard]] OrientationResult orient(const SwitchGraph& graph,
                                       const IndexVector<SwitchIdx, Guid>& guids,
                                       const Targets& targets,
                                       const OrientationRequest& request);

// What an orientation forbids: the turns from down to up, at switches with several up links (the
// thesis calls them cut nodes).

/// Entering by one up port of the switch and leaving by another one.
struct ForbiddenTurn {
  SwitchIdx sw;
  PortNum in;
  PortNum out;

  friend bool operator==(const ForbiddenTurn&, const ForbiddenTurn&) = default;
  friend auto operator<=>(const ForbiddenTurn&, const ForbiddenTurn&) = default;
};

/// Ports of `sw` whose link leads to a switch further up, ascending. Loopback links lead nowhere.
/// Requires: the orientation is one of this fabric.
[[nodiscard]] std::vector<PortNum> find_up_ports(const Fabric& fabric,
                                                 const Orientation& orientation,
                                                 SwitchIdx sw);

/// Sorted: every ordered pair of different up ports of every switch. Parallel links to one switch
/// count, since down one and up the other is such a turn too.
[[nodiscard]] std::vector<ForbiddenTurn> find_forbidden_turns(const Fabric& fabric,
                                                              const Orientation& orientation);

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

// New up*/down* tables out of those in force.
#pragma once

#include <optional>
#include <vector>

#include "smd/routing/engine.h"
#include "smd/routing/graph/switch_graph.h"
#include "smd/routing/incremental/changes.h"
#include "smd/routing/incremental/channel_loads.h"
#include "smd/routing/incremental/repair.h"
#include "smd/routing/updn/orientation.h"

namespace smd {

// How long routes were before a change.

class PreviousLengths {
 public:
  /// `before` and what it points to outlive it. `row_before`: the switches of now as they were.
  PreviousLengths(const PreviousRoutes& before,
                  const IndexVector<SwitchIdx, SwitchIdx>& row_before);

  /// Links to the switch that served the LID; kUnreached when the entries did not lead there.
  [[nodiscard]] std::uint32_t length(SwitchIdx sw, Lid lid) const;

 private:
  const PreviousRoutes& before_;
  const IndexVector<SwitchIdx, SwitchIdx>& row_before_;
  std::vector<std::uint32_t> first_hop_;  // by switch as it was, one more than there are
  std::vector<SwitchIdx> hops_;           // kNone: the port led to no switch
  std::vector<SwitchIdx> last_;           // by LID
};

// Makes tables of up*/down* routes as even after a change as they would be from scratch.

struct LegalTables {
  RouteState& routes;
  const ForwardingTables& tables;
  const std::vector<Destination>& destinations;
  const PreviousRoutes& before;
  const PortChanges& changes;
  bool rebalance;        // what could stay may move
  bool at_rest = false;  // until nothing is noticeably more even, whatever links there are
};

/// By edge, as ChannelLoads counts: all LIDs and all links alike. From what is known of the tables
/// in force and the entries that differ; else nothing.
[[nodiscard]] std::vector<std::uint64_t> find_changed_loads(const LegalTables& of);

/// Where the loads of routes from scratch are known, and if asked to: takes paths off the channels
/// that carry more than any did then, over paths that are no longer, and legal. Returns what is
/// known of the loads then. `load`: by edge.
[[nodiscard]] LoadRecord rebalance_up_down(const LegalTables& of, std::vector<std::uint64_t> load);

/// Of tables from scratch; `load` by edge. Nothing where ports or links do not count alike.
[[nodiscard]] LoadRecord record_legal_loads(const OrientedFabric& oriented,
                                            const std::vector<Destination>& destinations,
                                            std::vector<std::uint64_t> load);

// New tables out of those in force: what can stay, stays.

struct UpdatedRoutes {
  ForwardingTables lft;
  std::vector<Lid> recomputed;  // LIDs with entries that changed, ascending
  LoadRecord load;              // where it is known
};

/// `request`: its `shorten_detours` and `rebalance`.
/// Requires: the tables in force are up*/down* over the orientation that they carry.
/// Ensures, over the orientation of `oriented`: legal and complete for every LID in `lids`.
/// - What a lost or turned link carried goes elsewhere, and so does what that leaves without a
///   legal path or, if `shorten_detours`, on a longer one than need be; nothing else moves but for
///   `rebalance`.
/// - A link that came up takes routes that it shortens, and of others its share.
/// - A LID that is new or has moved is routed as if everything were, unless the entry that a switch
///   has is one of the best already; no other LID moves for it.
/// - LIDs that nobody has keep their entries, so that who comes back finds them, unless a link
///   under them leads elsewhere.
/// The tables never get shorter. Nullopt: so much is new that keeping the rest is not worth it.
[[nodiscard]] std::optional<UpdatedRoutes> update_up_down(const Fabric& fabric,
                                                          const LidMap& lids,
                                                          const OrientedFabric& oriented,
                                                          const PreviousRoutes& in_force,
                                                          const RoutingRequest& request);

}  // namespace smd

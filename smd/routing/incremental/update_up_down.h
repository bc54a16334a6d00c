// New up*/down* tables out of those in force.
#pragma once

#include <optional>
#include <span>
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

// Links that have come up get their share of traffic and no more; traffic is led off detours that a
// loss has caused.

class GainedLinks {
 public:
  explicit GainedLinks(RouteState& routes);

  /// Routes to `lid` that pass any of `detours` take a shorter path where they have one: first
  /// those next to the destination, so that whoever is behind them need not move.
  void rebalance(Lid lid, std::span<const SwitchIdx> detours);

  /// Routes to `lid` that one of the links makes shorter use it, and so do those of neighbours that
  /// become shorter by that, as far as it reaches. Who descends keeps descending.
  void shorten(Lid lid, std::span<const PortChanges::Gained> links);

  /// Of the LIDs that are as far over the link as over other ports, moves those whose move evens
  /// the loads most, until the link carries what those ports carry on the average.
  void fill(const PortChanges::Gained& link, Lid top, ChannelLoads& loads);

  /// Of a link that leads down: switches above it that are as far over it as over others hand over
  /// what evens the loads. They had to let go when it was lost.
  void attract(const PortChanges::Gained& link, Lid top, ChannelLoads& loads);

 private:
  /// A new entry that hands over to a neighbour leaves everybody else's routes legal.
  [[nodiscard]] bool may_hand_over(SwitchIdx from, RouteState::Hop hop, Lid lid) const;
  [[nodiscard]] bool improves(SwitchIdx from, PortNum port, Lid lid) const;
  [[nodiscard]] bool may_move(const PortChanges::Gained& link, RouteState::Hop hop, Lid lid) const;
  void take_shortest(SwitchIdx sw, Lid lid);

  RouteState& routes_;
  std::vector<SwitchIdx> queue_;
  IndexVector<SwitchIdx, char> queued_;
  IndexVector<SwitchIdx, std::uint32_t> place_;  // 0: upmost
  std::vector<std::uint32_t> candidates_;

  // fill() leaves lengths as they are, so those from one switch serve all links to it.
  SwitchIdx measured_ = kNone<SwitchIdx>;
  std::vector<std::uint32_t> onward_;  // by LID
};

}  // namespace smd

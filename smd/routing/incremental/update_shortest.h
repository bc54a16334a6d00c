// New tables of shortest paths out of those in force.
#pragma once

#include <optional>
#include <vector>

#include "smd/routing/graph/switch_graph.h"
#include "smd/routing/incremental/changes.h"
#include "smd/routing/incremental/update_up_down.h"

namespace smd {

// Which destinations are as far from everybody as before a change.

class PreviousDistances {
 public:
  /// `changes` outlives it.
  PreviousDistances(const Fabric& before, const SwitchGraph& graph, const PortChanges& changes);

  /// Every switch that was there is as far from `last` as it was, and reaches it at all only if it
  /// did. May say no where that is so, when more has changed than is worth looking at.
  [[nodiscard]] bool hold(SwitchIdx last) const;

  /// Links to `last`, of a new switch by its neighbours.
  /// Requires: hold(last).
  [[nodiscard]] std::uint32_t operator()(SwitchIdx sw, SwitchIdx last) const;

  /// Switches some of whose ports have changed, and those that were not there, ascending.
  [[nodiscard]] const std::vector<SwitchIdx>& changed() const { return changed_; }

  [[nodiscard]] const SwitchGraph& graph_before() const { return graph_before_; }

  /// All switches as they stood to `last`; kUnreached also for those that were not there.
  [[nodiscard]] IndexVector<SwitchIdx, std::uint32_t> to(SwitchIdx last) const;

 private:
  [[nodiscard]] bool is_new(SwitchIdx sw) const { return changes_.before[sw] == kNone<SwitchIdx>; }

  [[nodiscard]] bool has_new_neighbour(SwitchIdx sw) const;
  [[nodiscard]] std::uint32_t before(SwitchIdx row, SwitchIdx last_row) const;
  void search_from(SwitchIdx row) const;
  [[nodiscard]] bool fits_between_neighbours(SwitchIdx sw, SwitchIdx last) const;
  [[nodiscard]] bool still_reaches(SwitchIdx sw, SwitchIdx last) const;

  const SwitchGraph graph_before_;
  const SwitchGraph& graph_;
  const PortChanges& changes_;
  std::vector<SwitchIdx> changed_;
  bool known_ = true;            // what hold() needs
  std::vector<SwitchIdx> near_;  // rows of those that changed, and of their neighbours
  // Before the change, by where a switch stood; searched for when somebody asks.
  mutable IndexVector<SwitchIdx, IndexVector<SwitchIdx, std::uint32_t>> from_;
};

// Shortest routes after a change: every entry that still is on a shortest path stays.

/// Requires: the tables in force are shortest paths to every LID.
/// Ensures: shortest paths, complete for every LID in `lids`.
/// - An entry changes only if its port does not lead along a shortest path any more, to let a link
///   that came up, or a switch that came nearer, have its share, or to rebalance the fullest
///   channels.
/// - With `rebalance` also where nothing has changed.
/// - LIDs that nobody has keep their entries, unless the port leads elsewhere.
/// - Where paths in force were led apart (their `turns` are known), those to switches without hosts
///   keep their entries, however long, but where the link is gone.
/// The tables never get shorter. Nullopt: so much is new that keeping the rest is not worth it.
[[nodiscard]] std::optional<UpdatedRoutes> update_shortest(const Fabric& fabric,
                                                           const LidMap& lids,
                                                           const SwitchGraph& graph,
                                                           const Targets& targets,
                                                           const std::vector<std::uint32_t>& costs,
                                                           const PreviousRoutes& in_force,
                                                           bool rebalance);

}  // namespace smd

// Rebalances tables of shortest paths after a change.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "smd/routing/incremental/changes.h"
#include "smd/routing/incremental/entries.h"
#include "smd/routing/tables.h"
#include "smd/routing/trees/route_trees.h"

namespace smd {

// Tables of shortest paths as trees that rebalancing may change.

/// Tables in force, and the rows in them that switches of now had; kNone: was not there.
struct PreviousTables {
  const ForwardingTables& lft;
  const IndexVector<SwitchIdx, SwitchIdx>& row;
};

/// The trees to LIDs base + `offset` that count. All outlive it.
class LftTrees final : public MovableTrees {
 public:
  LftTrees(const SwitchGraph& graph,
           const Targets& targets,
           const std::vector<Destination>& destinations,
           const ForwardingTables& tables,
           Entries& entries,
           const PreviousTables& before,
           unsigned offset);

  [[nodiscard]] std::uint32_t count() const override {
    return static_cast<std::uint32_t>(lids_.size());
  }

  [[nodiscard]] SwitchIdx root(std::uint32_t tree) const override {
    return destinations_[lids_[tree].value()].last;
  }

  [[nodiscard]] std::uint32_t demand(std::uint32_t tree) const override {
    return destinations_[lids_[tree].value()].demand;
  }

  [[nodiscard]] std::uint32_t edge(std::uint32_t tree, SwitchIdx sw) const override {
    return by_port_[sw.value() * std::size_t{256} + tables_.route(sw, lids_[tree]).value()];
  }

  [[nodiscard]] bool has_changed(std::uint32_t tree) const override {
    return entries_.is_touched(lids_[tree]);
  }

  [[nodiscard]] bool has_changed(std::uint32_t tree, SwitchIdx sw) const override {
    const SwitchIdx row = before_.row[sw];
    return row == kNone<SwitchIdx> || lids_[tree] > before_.lft.top() ||
           before_.lft.route(row, lids_[tree]) != tables_.route(sw, lids_[tree]);
  }

  /// Not where more LIDs of the same port would take the same edge.
  [[nodiscard]] bool take(std::uint32_t tree, SwitchIdx sw, std::uint32_t edge) override;

 private:
  const SwitchGraph& graph_;
  const std::vector<Destination>& destinations_;
  const ForwardingTables& tables_;
  Entries& entries_;
  const PreviousTables before_;
  std::vector<Lid> lids_;               // ascending
  std::vector<std::uint32_t> by_port_;  // 256 per switch
};

// What channels carry under tables of shortest paths.

/// By edge: paths to the LIDs base + `offset` of all targets, by their demand and cost.
/// Requires: the entries make no loop.
[[nodiscard]] std::vector<std::uint64_t> count_shortest_loads(
    const SwitchGraph& graph,
    const Targets& targets,
    const IndexVector<SwitchIdx, std::uint32_t>& sources,
    const std::vector<std::uint32_t>& costs,
    const std::vector<Destination>& destinations,
    const ForwardingTables& tables,
    unsigned offset);

// Makes tables of shortest paths as even after a change as they would be from scratch.

struct ShortestTables {
  const SwitchGraph& graph;
  const Targets& targets;
  const std::vector<std::uint32_t>& costs;  // by edge
  const std::vector<Destination>& destinations;
  const ForwardingTables& tables;
};

/// The tables before the change.
struct TablesInForce {
  const SwitchGraph& graph;
  const PreviousRoutes& routes;
  const PortChanges& changes;  // since then
  bool rebalance = false;      // also where nothing has changed
};

/// Takes paths off the fullest channels, for each LID offset by itself. Entries that the change has
/// altered anyhow move as long as that helps; others only where the fullest channel would else
/// carry more than one does from scratch. Returns what is known of the loads then.
/// Requires: shortest paths. Ensures: shortest paths.
[[nodiscard]] LoadRecord rebalance_shortest(const IndexVector<SwitchIdx, Guid>& guids,
                                            const ShortestTables& routes,
                                            const TablesInForce& before,
                                            Entries& entries);

/// Of tables that have the entries of `before` but for those to `lids`: what is known of the loads
/// then. Where nothing was, or a path does not arrive, nothing is.
void move_loads(const SwitchGraph& graph,
                const Targets& targets,
                const ForwardingTables& before,
                const ForwardingTables& tables,
                std::span<const Lid> lids,
                LoadRecord& load);

/// Of tables from scratch; `load` by edge, paths to LIDs of offset 0.
[[nodiscard]] LoadRecord record_loads(const IndexVector<SwitchIdx, Guid>& guids,
                                      const Targets& targets,
                                      const std::vector<std::uint32_t>& costs,
                                      const std::vector<Destination>& destinations,
                                      std::vector<std::uint64_t> load);

}  // namespace smd

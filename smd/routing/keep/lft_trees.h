// Tables of shortest paths as trees that relief may change.
#pragma once

#include <vector>

#include "smd/routing/keep/entries.h"
#include "smd/routing/keep/movable_trees.h"

namespace smd {

/// Tables in force, and the rows in them that switches of now had; kNone: was not there.
struct Rows {
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
           const Rows& before,
           unsigned offset);

  [[nodiscard]] std::uint32_t count() const override {
    return static_cast<std::uint32_t>(lids_.size());
  }

  [[nodiscard]] SwitchIdx root(std::uint32_t tree) const override {
    return destinations_[lids_[tree].value()].last;
  }

  [[nodiscard]] std::uint32_t draws(std::uint32_t tree) const override {
    return destinations_[lids_[tree].value()].draws;
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

  /// Not where more LIDs of the same port would go the same way.
  [[nodiscard]] bool take(std::uint32_t tree, SwitchIdx sw, std::uint32_t edge) override;

 private:
  const SwitchGraph& graph_;
  const std::vector<Destination>& destinations_;
  const ForwardingTables& tables_;
  Entries& entries_;
  const Rows before_;
  std::vector<Lid> lids_;               // ascending
  std::vector<std::uint32_t> by_port_;  // 256 per switch
};

}  // namespace smd

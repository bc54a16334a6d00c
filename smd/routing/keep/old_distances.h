// Which destinations are as far from everybody as before a change.
#pragma once

#include <vector>

#include "smd/routing/keep/port_changes.h"
#include "smd/routing/switch_graph.h"

namespace smd {

class OldDistances {
 public:
  /// `changes` outlives it.
  OldDistances(const Fabric& before, const SwitchGraph& graph, const PortChanges& changes);

  /// Every switch is as far from `last` as it was, and reaches it at all only if it did. May say
  /// no where that is so, when more has changed than is worth looking at.
  [[nodiscard]] bool hold(SwitchIdx last) const;

  /// Links from a switch whose ports have changed, or from a neighbour of one, to `last`.
  /// Requires: hold(last).
  [[nodiscard]] std::uint32_t operator()(SwitchIdx sw, SwitchIdx last) const {
    return from_[sw][changes_.before[last]];
  }

  /// Switches that were there and some of whose ports have changed, ascending.
  [[nodiscard]] const std::vector<SwitchIdx>& changed() const { return changed_; }

  [[nodiscard]] const SwitchGraph& graph_before() const { return graph_before_; }

  /// All switches as they stood to `last`; kUnreached also for those that were not there.
  [[nodiscard]] IndexVector<SwitchIdx, std::uint32_t> to(SwitchIdx last) const;

 private:
  const SwitchGraph graph_before_;
  const SwitchGraph& graph_;
  const PortChanges& changes_;
  std::vector<SwitchIdx> changed_;
  bool known_ = true;                                                   // what hold() needs
  IndexVector<SwitchIdx, IndexVector<SwitchIdx, std::uint32_t>> from_;  // where needed, else empty
};

}  // namespace smd

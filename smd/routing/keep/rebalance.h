// Gives links that have come up their share of traffic, and no more.
#pragma once

#include <span>
#include <vector>

#include "smd/routing/keep/port_changes.h"
#include "smd/routing/keep/route_state.h"

namespace smd {

class Rebalancer {
 public:
  explicit Rebalancer(RouteState& routes);

  /// Routes to `lid` that one of the links makes shorter use it, and so do those of neighbours that
  /// become shorter by that, as far as it reaches. Who descends keeps descending.
  void shorten(Lid lid, std::span<const PortChanges::Gained> links);

  /// Of the LIDs that are as far over the link as over other ports, moves so many that it carries
  /// what those ports carry on the average; none of them falls below that. Whole table blocks are
  /// preferred, the one with most movable LIDs first, since a block is what a change costs.
  void fill(const PortChanges::Gained& link, Lid top);

 private:
  /// A new entry that hands over to a neighbour leaves everybody else's routes legal.
  [[nodiscard]] bool may_hand_over(SwitchIdx from, RouteState::Hop hop, Lid lid) const;
  [[nodiscard]] bool improves(SwitchIdx from, PortNum port, Lid lid) const;

  RouteState& routes_;
  std::vector<SwitchIdx> queue_;
  IndexVector<SwitchIdx, char> queued_;
};

}  // namespace smd

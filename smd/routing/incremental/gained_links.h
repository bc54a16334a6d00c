// Gives links that have come up their share of traffic and no more, and leads traffic off detours
// that a loss has caused.
#pragma once

#include <span>
#include <vector>

#include "smd/routing/incremental/changes.h"
#include "smd/routing/incremental/channel_loads.h"
#include "smd/routing/incremental/repair.h"

namespace smd {

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

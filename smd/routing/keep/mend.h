// Makes the routes to one LID legal and complete again, changing no entry that can stay.
#pragma once

#include <queue>
#include <span>
#include <vector>

#include "smd/routing/keep/route_state.h"

namespace smd {

class Mender {
 public:
  explicit Mender(RouteState& routes);

  /// Looks at the entries of `suspects` and at every entry that depends on one that changes.
  /// From the foot upwards: who cannot descend any more descends by another way, the shortest;
  /// who has none climbs, and then those above who handed over to him are looked at. Afterwards,
  /// from the top downwards, climbers choose the neighbour with the shortest route.
  /// Requires: somebody has the LID; entries of all other switches were legal before the change.
  void mend(Lid lid, std::span<const SwitchIdx> suspects);

  struct Change {
    SwitchIdx sw;
    PortNum from;
  };

  /// Changes back what need not have changed since RouteState::clear_changes(): what was lost to an
  /// entry may have come back to it with another change. Only where the route gets no longer,
  /// unless `even_if_longer`.
  void restore(Lid lid, bool even_if_longer);

 private:
  void look_at(SwitchIdx sw);
  [[nodiscard]] bool may_go_back(const RouteState::Change& change, bool even_if_longer) const;
  [[nodiscard]] bool send_down(SwitchIdx sw);
  void send_up(SwitchIdx sw);
  void force_down(SwitchIdx top);
  void queue(SwitchIdx sw);

  RouteState& routes_;
  const UpDownGraph& up_down_;
  IndexVector<SwitchIdx, std::uint32_t> place_;  // 0: upmost
  std::priority_queue<std::uint32_t> queue_;     // places, lowest switch first
  IndexVector<SwitchIdx, char> queued_;
  std::vector<SwitchIdx> climbers_;  // without a way yet, lowest first
  std::vector<std::uint32_t> ways_;
  Lid lid_;
};

}  // namespace smd

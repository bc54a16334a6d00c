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

 private:
  void look_at(SwitchIdx sw);
  [[nodiscard]] bool is_entered_from_above(SwitchIdx sw) const;
  [[nodiscard]] bool send_down(SwitchIdx sw);
  void send_up(SwitchIdx sw);
  void force_down(SwitchIdx top);
  void restore();
  void queue(SwitchIdx sw);
  void change(SwitchIdx sw, PortNum port);

  RouteState& routes_;
  const UpDownGraph& up_down_;
  IndexVector<SwitchIdx, std::uint32_t> place_;  // 0: upmost
  std::priority_queue<std::uint32_t> queue_;     // places, lowest switch first
  IndexVector<SwitchIdx, char> queued_;
  std::vector<SwitchIdx> climbers_;  // without a way yet, lowest first
  std::vector<std::uint32_t> ways_;

  struct Change {
    SwitchIdx sw;
    PortNum from;
  };

  std::vector<Change> changes_;
  bool forced_ = false;
  Lid lid_;
};

}  // namespace smd

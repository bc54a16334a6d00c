// Paths per channel under tables in the making: what balance is judged by.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "smd/routing/keep/route_state.h"

namespace smd {

class ChannelLoads {
 public:
  /// Counts all paths from hosts to LIDs that weigh. Requires: all routes are legal.
  ChannelLoads(const RouteState& routes, Lid top);

  [[nodiscard]] std::uint64_t operator()(SwitchIdx sw, PortNum port) const {
    return load_[first_[sw.value()] + port.value()];
  }

  /// By how much the sum of the squares of all loads would shrink if all paths to `lid` that pass
  /// `sw` left by `port`, to follow the entries from there on.
  /// Requires: the port leads to a switch, and the route beyond it does not come back.
  [[nodiscard]] double measure_gain(const RouteState& routes, SwitchIdx sw, Lid lid, PortNum port);

  /// Lets them, if it still is a gain.
  void move(RouteState& routes, SwitchIdx sw, Lid lid, PortNum port);

 private:
  void count(const RouteState& routes, SwitchIdx last, std::span<const Lid> lids);

  /// Adds to every channel of the route; how much the sum of squares grows by that.
  double add(const RouteState& routes, SwitchIdx sw, Lid lid, PortNum port, std::int64_t paths);

  std::vector<std::uint32_t> first_;  // by switch
  std::vector<std::uint64_t> load_;   // by switch and port
  std::vector<std::uint32_t> flow_;   // scratch of count()
  std::vector<char> waiting_;
};

}  // namespace smd

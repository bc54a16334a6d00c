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

  /// Takes over what is known. `by_edge`: of the graph.
  ChannelLoads(const RouteState& routes, std::span<const std::uint64_t> by_edge);

  [[nodiscard]] std::vector<std::uint64_t> by_edge(const RouteState& routes) const;

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
  void list_hops(const RouteState& routes);
  void count(const RouteState& routes, std::span<const Lid> lids);

  /// Passes on what a switch has got so far and goes on in the given direction.
  void hand_over(const RouteState& routes,
                 SwitchIdx sw,
                 std::span<const Lid> lids,
                 std::uint32_t direction);

  /// Adds to every channel of the route; how much the sum of squares grows by that.
  double add(const RouteState& routes, SwitchIdx sw, Lid lid, PortNum port, std::int64_t paths);

  std::vector<std::uint32_t> first_;   // by switch, one more than there are
  std::vector<std::uint32_t> onward_;  // by switch and port: where it leads, and whether up

  /// By switch and port. 49,151 LIDs have fewer than 2^32 paths between them.
  std::vector<std::uint32_t> load_;

  std::vector<std::uint16_t> flow_;  // scratch of count(): switch-major; a LID has fewer paths
};

}  // namespace smd

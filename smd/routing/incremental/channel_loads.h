// Loads of channels under tables in the making, counted or carried over from those in force.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "smd/routing/incremental/changes.h"
#include "smd/routing/incremental/entries.h"
#include "smd/routing/incremental/repair.h"

namespace smd {

// Paths per channel under tables in the making: what balance is judged by.

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
  /// Requires: the port leads to a switch, and the route behind it does not come back.
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

// What changed entries do to the loads of channels, without counting everything again.

/// Of what LoadRecord::by_edge counts.
[[nodiscard]] std::uint64_t compute_load_basis(const IndexVector<SwitchIdx, Guid>& guids,
                                               const Targets& targets,
                                               const std::vector<Destination>& destinations);

class LoadChange {
 public:
  struct Side {
    const SwitchGraph& graph;
    const ForwardingTables& tables;
    const IndexVector<SwitchIdx, std::uint32_t>& sources;  // paths that begin at each switch
    const std::vector<Destination>& destinations;
  };

  /// All outlive it. `before` and `now` may differ in who sends, and where to: such paths are taken
  /// away as they were and added as they are.
  LoadChange(const Side& before, const Side& now, const PortChanges& changes);

  /// No port leads to another switch port than before: entries that stay mean what they meant.
  [[nodiscard]] bool is_known() const;

  /// By edge of now. `load`: by edge as it was. `changed`: every entry that may differ; sorted.
  /// Empty where a path that is to be taken away or added does not arrive.
  /// Requires: is_known(), and every path over every link counts the demand of its LID.
  [[nodiscard]] std::vector<std::uint64_t> apply(std::vector<std::uint64_t> load,
                                                 std::span<const Entries::Change> changed);

 private:
  using ByPort = std::vector<std::uint32_t>;  // 256 per switch

  static ByPort list_by_port(const SwitchGraph& graph);

  /// Edges from the switch to the last one. False, and none, where entries do not lead there.
  bool follow(const Side& side, const ByPort& by_port, SwitchIdx from, SwitchIdx last, Lid lid);
  [[nodiscard]] std::uint64_t count_own(SwitchIdx sw, Lid lid) const;
  void move_paths(Lid lid, SwitchIdx sw);

  /// Takes away or adds the paths of one side that the other does not have. False where one does
  /// not arrive.
  [[nodiscard]] bool move_other_paths(const Side& side,
                                      const ByPort& by_port,
                                      const IndexVector<SwitchIdx, std::uint32_t>& common,
                                      std::vector<std::uint64_t>& load,
                                      bool take_away);

  Side before_, now_;
  const PortChanges& changes_;
  IndexVector<SwitchIdx, std::uint32_t> common_before_, common_;  // sources that both sides have
  std::vector<std::uint32_t> demand_;                             // by LID, likewise
  ByPort by_port_before_, by_port_;
  std::vector<std::uint64_t> left_, taken_;  // by edge as it was; by edge of now
  IndexVector<SwitchIdx, char> differs_;     // the entry of the LID at hand
  std::vector<std::uint32_t> path_;
};

}  // namespace smd

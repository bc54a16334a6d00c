// The links of a graph split into up and down ones, and the next hops of legal routes: up first,
// then down.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "smd/routing/graph/switch_graph.h"

namespace smd {

/// Links split into up and down ones, ready for searching.
class UpDownGraph {
 public:
  struct Link {
    SwitchIdx to;
    std::uint32_t edge;  // position in the switch graph
  };

  UpDownGraph(const SwitchGraph& graph,
              const IndexVector<SwitchIdx, std::uint32_t>& rank,
              const IndexVector<SwitchIdx, Guid>& guids);

  /// Links of `sw` that lead up, in port order.
  [[nodiscard]] std::span<const Link> up(SwitchIdx sw) const {
    return {links_.data() + first_[sw.value()], links_.data() + middle_[sw.value()]};
  }

  [[nodiscard]] std::span<const Link> down(SwitchIdx sw) const {
    return {links_.data() + middle_[sw.value()], links_.data() + first_[sw.value() + 1]};
  }

  /// Links, each from both its ends.
  [[nodiscard]] std::size_t size() const { return links_.size(); }

  /// All switches, upmost first.
  [[nodiscard]] const std::vector<SwitchIdx>& order() const { return order_; }

 private:
  std::vector<SwitchIdx> order_;
  std::vector<std::uint32_t> first_, middle_;
  std::vector<Link> links_;
};

/// Next hops of legal routes to one destination switch.
///
/// Two phases: a switch with an all-down path takes the shortest such; any other goes up towards
/// the neighbour with the shortest route. Down comes before up even where up is shorter: a table
/// does not see where a packet comes from, and one that came down must find a path on downwards.
class UpDownSearch {
 public:
  explicit UpDownSearch(const UpDownGraph& graph)
      : graph_(graph), length_(graph.order().size()), descent_(graph.order().size()) {}

  void find(SwitchIdx destination, NextHops& hops);

 private:
  const UpDownGraph& graph_;
  std::vector<SwitchIdx> near_to_far_;
  std::vector<SwitchIdx> climbers_;  // upmost first
  IndexVector<SwitchIdx, std::uint32_t> length_;
  IndexVector<SwitchIdx, std::uint32_t> descent_;  // kUnreached: no all-down path
};

}  // namespace smd

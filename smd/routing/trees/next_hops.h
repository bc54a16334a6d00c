// Next hops of all shortest paths to one destination switch.
#pragma once

#include <vector>

#include "smd/routing/graph/switch_graph.h"

namespace smd {

/// All equally good next hops to one destination switch.
struct NextHops {
  /// Every switch that reaches the destination, except itself; a switch stands before all of its
  /// next hops.
  std::vector<SwitchIdx> order;

  /// Edges (positions in the graph) that order[i] may take: edges[first[i]] … edges[first[i+1]-1],
  /// ascending. At least one each.
  std::vector<std::uint32_t> first;
  std::vector<std::uint32_t> edges;

  void clear() {
    order.clear();
    first.assign(1, 0);
    edges.clear();
  }

  /// Ends the list of the switch pushed last.
  void close() { first.push_back(static_cast<std::uint32_t>(edges.size())); }
};

class ShortestSearch {
 public:
  explicit ShortestSearch(const SwitchGraph& graph) : graph_(graph) {}

  void find(SwitchIdx destination, NextHops& hops);

  /// Links from `sw` to the destination of the last find(); kUnreached on other islands.
  [[nodiscard]] std::uint32_t distance(SwitchIdx sw) const { return distance_[sw]; }

 private:
  const SwitchGraph& graph_;
  std::vector<SwitchIdx> near_to_far_;
  IndexVector<SwitchIdx, std::uint32_t> distance_;
};

}  // namespace smd

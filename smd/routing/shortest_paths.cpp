#include "smd/routing/shortest_paths.h"

namespace smd {

void ShortestSearch::find(SwitchIdx destination, NextHops& hops) {
  distance_.assign(graph_.switches(), kUnreached);
  near_to_far_.assign(1, destination);
  distance_[destination] = 0;
  for (std::size_t at = 0; at < near_to_far_.size(); ++at) {
    const SwitchIdx sw = near_to_far_[at];
    for (const SwitchEdge& edge : graph_.edges(sw)) {
      if (distance_[edge.to] != kUnreached) continue;
      distance_[edge.to] = distance_[sw] + 1;
      near_to_far_.push_back(edge.to);
    }
  }
  hops.clear();
  for (std::size_t at = near_to_far_.size(); --at > 0;) {
    const SwitchIdx sw = near_to_far_[at];
    hops.order.push_back(sw);
    std::uint32_t position = graph_.first_edge(sw);
    for (const SwitchEdge& edge : graph_.edges(sw)) {
      if (distance_[edge.to] + 1 == distance_[sw]) hops.edges.push_back(position);
      ++position;
    }
    hops.close();
  }
}

}  // namespace smd

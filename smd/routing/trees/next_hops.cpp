#include "smd/routing/trees/next_hops.h"

#include <algorithm>
#include <iterator>

namespace smd {

void ShortestSearch::find(SwitchIdx destination, NextHops& hops) {
  // Every switch and link is written where the next one belongs, and stays if it is one: most are
  // looked at in vain, and which cannot be foreseen.
  distance_.assign(graph_.switches(), kUnreached);
  near_to_far_.resize(graph_.switches() + 1);
  SwitchIdx* const queue = near_to_far_.data();
  std::size_t reached = 1;
  queue[0] = destination;
  distance_[destination] = 0;
  for (std::size_t at = 0; at < reached; ++at) {
    const std::uint32_t onward = distance_[queue[at]] + 1;
    for (const SwitchEdge& edge : graph_.edges(queue[at])) {
      std::uint32_t& distance = distance_[edge.to];
      queue[reached] = edge.to;
      reached += distance == kUnreached;
      distance = std::min(distance, onward);
    }
  }
  const std::size_t others = reached - 1;
  hops.order.assign(std::make_reverse_iterator(queue + reached),
                    std::make_reverse_iterator(queue + 1));
  hops.first.resize(others + 1);
  hops.edges.resize(graph_.edge_count() + 1);
  std::uint32_t* const edges = hops.edges.data();
  std::uint32_t count = 0;
  hops.first[0] = 0;
  for (std::size_t i = 0; i < others; ++i) {
    const SwitchIdx sw = hops.order[i];
    const std::uint32_t wanted = distance_[sw] - 1;
    std::uint32_t position = graph_.first_edge(sw);
    for (const SwitchEdge& edge : graph_.edges(sw)) {
      edges[count] = position++;
      count += distance_[edge.to] == wanted;
    }
    hops.first[i + 1] = count;
  }
  hops.edges.resize(count);
}

}  // namespace smd

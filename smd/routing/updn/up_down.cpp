#include "smd/routing/updn/up_down.h"

#include <algorithm>

namespace smd {

UpDownGraph::UpDownGraph(const SwitchGraph& graph,
                         const IndexVector<SwitchIdx, std::uint32_t>& rank,
                         const IndexVector<SwitchIdx, Guid>& guids) {
  const auto above = [&](SwitchIdx a, SwitchIdx b) {
    return rank[a] != rank[b] ? rank[a] < rank[b] : guids[a] < guids[b];
  };
  links_.reserve(graph.edge_count());
  for (const SwitchIdx sw : rank.indices()) {
    order_.push_back(sw);
    first_.push_back(static_cast<std::uint32_t>(links_.size()));
    for (const bool up : {true, false}) {
      std::uint32_t position = graph.first_edge(sw);
      for (const SwitchEdge& edge : graph.edges(sw)) {
        if (above(edge.to, sw) == up) links_.push_back({edge.to, position});
        ++position;
      }
      if (up) middle_.push_back(static_cast<std::uint32_t>(links_.size()));
    }
  }
  first_.push_back(static_cast<std::uint32_t>(links_.size()));
  std::sort(order_.begin(), order_.end(), above);
}

void UpDownSearch::find(SwitchIdx destination, NextHops& hops) {
  descent_.assign(descent_.size(), kUnreached);
  near_to_far_.assign(1, destination);
  descent_[destination] = 0;
  for (std::size_t at = 0; at < near_to_far_.size(); ++at) {
    const SwitchIdx sw = near_to_far_[at];
    for (const UpDownGraph::Link& link : graph_.up(sw)) {
      if (descent_[link.to] != kUnreached) continue;
      descent_[link.to] = descent_[sw] + 1;
      near_to_far_.push_back(link.to);
    }
  }
  length_ = descent_;
  climbers_.clear();
  for (const SwitchIdx sw : graph_.order()) {
    if (descent_[sw] != kUnreached) continue;
    std::uint32_t best = kUnreached;
    for (const UpDownGraph::Link& link : graph_.up(sw)) best = std::min(best, length_[link.to]);
    if (best == kUnreached) continue;
    length_[sw] = best + 1;
    climbers_.push_back(sw);
  }

  const std::size_t others = climbers_.size() + near_to_far_.size() - 1;
  hops.order.assign(climbers_.rbegin(), climbers_.rend());
  hops.order.insert(hops.order.end(), near_to_far_.rbegin(), near_to_far_.rend() - 1);
  hops.first.resize(others + 1);
  hops.first[0] = 0;
  hops.edges.resize(graph_.size() + 1);
  // Every link is written where the next one belongs, and stays if it is one: most are looked at in
  // vain, and which cannot be foreseen.
  std::uint32_t* const edges = hops.edges.data();
  std::uint32_t count = 0;
  const auto list =
      [&](SwitchIdx sw, std::span<const UpDownGraph::Link> links, const auto& onward) {
        const std::uint32_t wanted = length_[sw] - 1;
        for (const UpDownGraph::Link& link : links) {
          edges[count] = link.edge;
          count += onward[link.to] == wanted;
        }
      };
  for (std::size_t i = 0; i < others; ++i) {
    const SwitchIdx sw = hops.order[i];
    if (i < climbers_.size()) {
      list(sw, graph_.up(sw), length_);
    } else {
      list(sw, graph_.down(sw), descent_);
    }
    hops.first[i + 1] = count;
  }
  hops.edges.resize(count);
}

}  // namespace smd

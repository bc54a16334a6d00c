#include "smd/routing/up_down.h"

#include <algorithm>

namespace smd {

void UpDownSearch::find(SwitchIdx destination, NextHops& hops) {
  length_.assign(length_.size(), kUnreached);
  down_.assign(down_.size(), 0);
  near_to_far_.assign(1, destination);
  length_[destination] = 0;
  down_[destination] = 1;
  for (std::size_t at = 0; at < near_to_far_.size(); ++at) {
    const SwitchIdx sw = near_to_far_[at];
    for (const UpDownGraph::Way& way : graph_.up(sw)) {
      if (down_[way.to]) continue;
      down_[way.to] = 1;
      length_[way.to] = length_[sw] + 1;
      near_to_far_.push_back(way.to);
    }
  }
  const std::vector<SwitchIdx>& order = graph_.order();
  for (const SwitchIdx sw : order) {
    if (down_[sw]) continue;
    std::uint32_t best = kUnreached;
    for (const UpDownGraph::Way& way : graph_.up(sw)) best = std::min(best, length_[way.to]);
    if (best != kUnreached) length_[sw] = best + 1;
  }

  hops.clear();
  const auto add = [&](SwitchIdx sw, std::span<const UpDownGraph::Way> ways) {
    hops.order.push_back(sw);
    for (const UpDownGraph::Way& way : ways) {
      if (length_[way.to] + 1 == length_[sw] && (!down_[sw] || down_[way.to]))
        hops.edges.push_back(way.edge);
    }
    hops.close();
  };
  for (std::size_t at = order.size(); at-- > 0;) {
    const SwitchIdx sw = order[at];
    if (!down_[sw] && length_[sw] != kUnreached) add(sw, graph_.up(sw));
  }
  for (std::size_t at = near_to_far_.size(); --at > 0;)
    add(near_to_far_[at], graph_.down(near_to_far_[at]));
}

}  // namespace smd

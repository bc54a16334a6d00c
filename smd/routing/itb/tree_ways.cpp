#include "smd/routing/itb/tree_ways.h"

#include <algorithm>
#include <utility>

namespace smd {

TreeWays::TreeWays(const SwitchGraph& graph, const UpDownGraph& oriented, const UpDownRule& rule)
    : graph_(graph),
      rule_(rule),
      shortest_(graph),
      legal_(oriented),
      cuts_(graph.switches(), 0),
      goes_up_(graph.switches(), 0) {}

void TreeWays::find(Kind kind, SwitchIdx destination, NextHops& hops) {
  if (kind == Kind::Legal) return legal_.find(destination, hops);
  shortest_.find(destination, hops);
  if (kind == Kind::LeastCuts) keep_least_cuts(destination, hops);
}

// A way up costs whoever comes down from above one cut more, so of ways with equally few cuts those
// down are taken; all ways of a switch lead the same direction then, whichever the tree takes.
void TreeWays::keep_least_cuts(SwitchIdx destination, NextHops& hops) {
  cuts_[destination] = 0;
  goes_up_[destination] = 0;
  const auto rate = [&](std::uint32_t edge) {
    const SwitchIdx to = graph_.edge(edge).to;
    const bool cut = !rule_.is_up(edge) && goes_up_[to];
    return std::pair{cuts_[to] + (cut ? 1u : 0u), rule_.is_up(edge)};
  };
  // Nearest first: what is ahead decides.
  for (std::size_t i = hops.order.size(); i-- > 0;) {
    const std::span<std::uint32_t> ways{hops.edges.data() + hops.first[i],
                                        hops.edges.data() + hops.first[i + 1]};
    auto best = rate(ways.front());
    for (const std::uint32_t edge : ways) best = std::min(best, rate(edge));
    cuts_[hops.order[i]] = best.first;
    goes_up_[hops.order[i]] = best.second ? 1 : 0;
    for (std::uint32_t& edge : ways) {
      if (rate(edge) != best) edge = kNoEdge;
    }
  }
  kept_.clear();
  for (std::size_t i = 0; i < hops.order.size(); ++i) {
    kept_.order.push_back(hops.order[i]);
    for (std::uint32_t at = hops.first[i]; at < hops.first[i + 1]; ++at) {
      if (hops.edges[at] != kNoEdge) kept_.edges.push_back(hops.edges[at]);
    }
    kept_.close();
  }
  std::swap(hops, kept_);
}

void keep_fresh(std::span<const SwitchTrees> others, SwitchIdx destination, NextHops& hops) {
  if (others.empty()) return;
  NextHops kept;
  kept.clear();
  for (std::size_t i = 0; i < hops.order.size(); ++i) {
    const SwitchIdx sw = hops.order[i];
    const std::span<const std::uint32_t> ways{hops.edges.data() + hops.first[i],
                                              hops.edges.data() + hops.first[i + 1]};
    const auto uses = [&](std::uint32_t edge) {
      return std::ranges::count_if(
          others, [&](const SwitchTrees& tree) { return tree.edge(destination, sw) == edge; });
    };
    const auto least = uses(std::ranges::min(ways, {}, uses));
    kept.order.push_back(sw);
    std::ranges::copy_if(ways, std::back_inserter(kept.edges), [&](std::uint32_t way) {
      return uses(way) == least;
    });
    kept.close();
  }
  std::swap(hops, kept);
}

}  // namespace smd

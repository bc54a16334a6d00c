// One tree as relief sees it, and what another way of a switch would do.
#include <algorithm>

#include "smd/routing/keep/relief.h"

namespace smd {
namespace {

constexpr std::uint32_t kNoWay = MovableTrees::kNoWay;

}  // namespace

void Relief::read(std::uint32_t tree) {
  std::ranges::fill(depth_, kUnreached);
  constexpr std::uint32_t kDead = kUnreached - 1;
  const std::uint32_t root = trees_.root(tree).value();
  depth_[root] = 0;
  way_[root] = kNoWay;
  std::uint32_t deepest = 0;
  for (std::uint32_t start = 0; start < depth_.size(); ++start) {
    path_.clear();
    std::uint32_t sw = start;
    while (depth_[sw] == kUnreached) {
      way_[sw] = trees_.edge(tree, SwitchIdx{sw});
      depth_[sw] = kDead;
      path_.push_back(sw);
      if (way_[sw] == kNoWay) break;
      sw = graph_.edge(way_[sw]).to.value();
    }
    std::uint32_t depth = depth_[sw];
    for (std::size_t at = path_.size(); at-- > 0 && depth != kDead;) depth_[path_[at]] = ++depth;
    if (depth != kDead) deepest = std::max(deepest, depth);
  }
  std::vector<std::uint32_t> first(deepest + 2, 0);
  for (const std::uint32_t depth : depth_) {
    if (depth < kDead) ++first[depth + 1];
  }
  for (std::size_t depth = 1; depth < first.size(); ++depth) first[depth] += first[depth - 1];
  near_to_far_.resize(first.back());
  for (std::uint32_t sw = 0; sw < depth_.size(); ++sw) {
    flow_[sw] = sources_[SwitchIdx{sw}];
    if (depth_[sw] < kDead) near_to_far_[first[depth_[sw]]++] = sw;
  }
  for (std::size_t at = near_to_far_.size(); at-- > 1;) {
    const std::uint32_t sw = near_to_far_[at];
    flow_[graph_.edge(way_[sw]).to.value()] += flow_[sw];
  }
}

// As long as its own, and not over the channel that is too full.
bool Relief::is_other_way(std::uint32_t sw, std::uint32_t edge) const {
  const std::uint32_t to = graph_.edge(edge).to.value();
  return edge != way_[sw] && depth_[to] < depth_[sw] && depth_[to] + 1 == depth_[sw] &&
         !passes_[to];
}

void Relief::mark_passing(std::uint32_t full) {
  passes_[near_to_far_.front()] = 0;
  for (std::size_t at = 1; at < near_to_far_.size(); ++at) {
    const std::uint32_t sw = near_to_far_[at];
    passes_[sw] = sw == from_[full] || passes_[graph_.edge(way_[sw]).to.value()];
  }
}

std::uint64_t Relief::find_peak(SwitchIdx sw,
                                std::uint32_t edge,
                                std::uint64_t paths,
                                std::uint64_t bound) const {
  std::uint64_t peak = 0;
  std::uint32_t old = way_[sw.value()];
  // Both ways are equally long: where they meet, nothing changes.
  while (true) {
    peak = std::max(peak, load_[edge] + paths * costs_[edge]);
    if (peak >= bound) return kNever;
    const std::uint32_t at = graph_.edge(edge).to.value();
    const std::uint32_t old_at = graph_.edge(old).to.value();
    if (at == old_at) return peak;
    edge = way_[at];
    old = way_[old_at];
  }
}

bool Relief::is_evener(SwitchIdx sw, std::uint32_t edge, std::uint64_t paths) const {
  double grown = 0;
  for (std::uint32_t old = way_[sw.value()];;) {
    const std::uint64_t taken = paths * costs_[edge], left = paths * costs_[old];
    grown += static_cast<double>(taken) * static_cast<double>(2 * load_[edge] + taken) -
             static_cast<double>(left) * static_cast<double>(2 * load_[old] - left);
    const std::uint32_t at = graph_.edge(edge).to.value();
    const std::uint32_t old_at = graph_.edge(old).to.value();
    if (at == old_at) return grown < 0;
    edge = way_[at];
    old = way_[old_at];
  }
}

}  // namespace smd

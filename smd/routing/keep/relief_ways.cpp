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

// As long as its own at the most, and not over the channel that is too full. Depths are those that
// read() found: every way leads to a lesser one, also after moves that made some shorter.
bool Relief::is_other_way(std::uint32_t sw, std::uint32_t edge) const {
  const std::uint32_t to = graph_.edge(edge).to.value();
  return edge != way_[sw] && depth_[to] < depth_[sw] && !passes_[to];
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
  std::uint64_t peak = load_[edge] + paths * costs_[edge];
  Fork fork = begin_fork(sw, edge);
  while (peak < bound && !fork.met()) {
    if (const auto [way, is_new] = advance(fork); is_new)
      peak = std::max(peak, load_[way] + paths * costs_[way]);
  }
  return peak < bound ? peak : kNever;
}

void Relief::list_ways(SwitchIdx sw, std::uint64_t paths, std::uint64_t bound) {
  ways_.clear();
  std::uint32_t edge = graph_.first_edge(sw);
  const std::uint32_t end = edge + static_cast<std::uint32_t>(graph_.edges(sw).size());
  for (; edge != end; ++edge) {
    if (!is_other_way(sw.value(), edge) || load_[edge] >= bound) continue;
    const std::uint64_t peak = find_peak(sw, edge, paths, bound);
    if (peak < bound && (!only_evener_ || is_evener(sw, edge, paths)))
      ways_.emplace_back(peak, edge);
  }
  std::ranges::sort(ways_);
}

bool Relief::is_evener(SwitchIdx sw, std::uint32_t edge, std::uint64_t paths) const {
  double grown = 0;
  const auto count = [&](std::uint32_t way, bool is_new) {
    const auto moved = static_cast<double>(paths * costs_[way]);
    const auto now = static_cast<double>(load_[way]);
    grown += is_new ? moved * (2 * now + moved) : -moved * (2 * now - moved);
  };
  count(edge, true);
  count(way_[sw.value()], false);
  for (Fork fork = begin_fork(sw, edge); !fork.met();) {
    const auto [way, is_new] = advance(fork);
    count(way, is_new);
  }
  return grown < 0;
}

Relief::Fork Relief::begin_fork(SwitchIdx sw, std::uint32_t edge) const {
  return {.on_new = graph_.edge(edge).to.value(),
          .on_old = graph_.edge(way_[sw.value()]).to.value()};
}

// Where both ways meet, nothing changes.
Relief::Step Relief::advance(Fork& fork) const {
  const bool is_new = depth_[fork.on_new] > depth_[fork.on_old];
  std::uint32_t& at = is_new ? fork.on_new : fork.on_old;
  const std::uint32_t way = way_[at];
  at = graph_.edge(way).to.value();
  return {way, is_new};
}

}  // namespace smd

#include "smd/routing/keep/old_distances.h"

#include <algorithm>

namespace smd {
namespace {

// A search from each takes about as long as a search to each destination.
constexpr std::size_t kMostSearches = 256;

}  // namespace

OldDistances::OldDistances(const Fabric& before,
                           const SwitchGraph& graph,
                           const PortChanges& changes)
    : graph_before_(before), graph_(graph), changes_(changes), from_(graph.switches()) {
  std::vector<char> needed(graph.switches(), 0);
  for (const SwitchIdx sw : changes.before.indices()) {
    if (changes.before[sw] == kNone<SwitchIdx>) {
      known_ = false;
    } else if (changes.suspect[sw].any()) {
      changed_.push_back(sw);
      needed[sw.value()] = 1;
      for (const SwitchEdge& edge : graph.edges(sw)) needed[edge.to.value()] = 1;
    }
  }
  const auto searches = static_cast<std::size_t>(std::ranges::count(needed, 1));
  known_ = known_ && searches <= std::min(kMostSearches, graph.switches());
  if (!known_) return;
  for (const SwitchIdx sw : from_.indices()) {
    const SwitchIdx row = changes.before[sw];
    if (needed[sw.value()]) from_[sw] = compute_distances(graph_before_, {&row, 1});
  }
}

// So it is exactly when the old distances fall by one along a cable from everybody but `last`, and
// nowhere by more: who has kept all his cables has kept that as well.
bool OldDistances::hold(SwitchIdx last) const {
  if (!known_ || changes_.before[last] == kNone<SwitchIdx>) return false;
  for (const SwitchIdx sw : changed_) {
    const std::uint32_t own = (*this)(sw, last);
    bool reaches = sw == last || own == kUnreached;
    for (const SwitchEdge& edge : graph_.edges(sw)) {
      const std::uint32_t onward = (*this)(edge.to, last);
      if ((own == kUnreached) != (onward == kUnreached)) return false;
      if (own == kUnreached) continue;
      if (own > onward + 1 || onward > own + 1) return false;
      reaches = reaches || onward + 1 == own;
    }
    if (!reaches) return false;
  }
  return true;
}

IndexVector<SwitchIdx, std::uint32_t> OldDistances::to(SwitchIdx last) const {
  IndexVector<SwitchIdx, std::uint32_t> distance(graph_.switches(), kUnreached);
  if (changes_.before[last] == kNone<SwitchIdx>) return distance;
  const auto before = compute_distances(graph_before_, {&changes_.before[last], 1});
  for (const SwitchIdx sw : distance.indices()) {
    if (changes_.before[sw] != kNone<SwitchIdx>) distance[sw] = before[changes_.before[sw]];
  }
  return distance;
}

}  // namespace smd

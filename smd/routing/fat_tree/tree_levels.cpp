#include <algorithm>

#include "smd/routing/fat_tree/shape.h"

#include "smd/routing/graph/disjoint_sets.h"
#include "smd/routing/updn/islands.h"

namespace smd {
namespace {

class LevelFinder {
 public:
  LevelFinder(const SwitchGraph& graph,
              const IndexVector<SwitchIdx, Guid>& guids,
              const IndexVector<SwitchIdx, std::uint32_t>& hosts)
      : graph_(graph),
        guids_(guids),
        hosts_(hosts),
        islands_(find_islands(graph)),
        leaf_(graph.switches(), 0) {}

  IndexVector<SwitchIdx, std::uint32_t> run() {
    choose_likely();
    drop_bridges();
    measure();
    drop_neighbours();
    add_bare();
    return std::move(level_);
  }

 private:
  void measure() {
    std::vector<SwitchIdx> leaves;
    for (const SwitchIdx sw : leaf_.indices()) {
      if (leaf_[sw]) leaves.push_back(sw);
    }
    level_ = compute_distances(graph_, leaves);
  }

  // Switches with at least half as many hosts as is usual.
  void choose_likely() {
    std::vector<std::uint32_t> counts;
    for (const std::uint32_t count : hosts_) {
      if (count != 0) counts.push_back(count);
    }
    const auto middle = counts.begin() + static_cast<std::ptrdiff_t>(counts.size() / 2);
    std::nth_element(counts.begin(), middle, counts.end());
    usual_ = counts.empty() ? 0 : *middle;
    for (const std::vector<SwitchIdx>& island : islands_) {
      bool any = false, any_hosts = false;
      std::size_t fewest = graph_.edge_count();
      for (const SwitchIdx sw : island) {
        leaf_[sw] = hosts_[sw] != 0 && 2 * hosts_[sw] >= usual_;
        any = any || leaf_[sw];
        any_hosts = any_hosts || hosts_[sw] != 0;
        fewest = std::min(fewest, graph_.edges(sw).size());
      }
      if (any) continue;
      for (const SwitchIdx sw : island)
        leaf_[sw] = any_hosts ? hosts_[sw] != 0 : graph_.edges(sw).size() == fewest;
    }
  }

  [[nodiscard]] std::size_t count_leaves() const {
    return static_cast<std::size_t>(std::count(leaf_.begin(), leaf_.end(), 1));
  }

  // Switches above a leaf have other leaves in common. Those below a spine that has a host have
  // not: they belong to different subtrees.
  [[nodiscard]] bool is_bridge(SwitchIdx sw, IndexVector<SwitchIdx, SwitchIdx>& seen_from) const {
    SwitchIdx first = kNone<SwitchIdx>;
    bool apart = false;
    for (const SwitchEdge& edge : graph_.edges(sw)) {
      if (edge.to == first) continue;
      bool others = false, shared = false;
      for (const SwitchEdge& onward : graph_.edges(edge.to)) {
        if (onward.to == sw || !leaf_[onward.to]) continue;
        others = true;
        if (first == kNone<SwitchIdx>) {
          seen_from[onward.to] = sw;
        } else if (seen_from[onward.to] == sw) {
          shared = true;
          break;
        }
      }
      if (shared) return false;
      apart = apart || (others && first != kNone<SwitchIdx>);
      if (others && first == kNone<SwitchIdx>) first = edge.to;
    }
    return apart;
  }

  void drop_bridges() {
    IndexVector<SwitchIdx, SwitchIdx> seen_from(graph_.switches(), kNone<SwitchIdx>);
    std::vector<SwitchIdx> bridges;
    for (const SwitchIdx sw : leaf_.indices()) {
      const bool few = hosts_[sw] < usual_ || usual_ == 1;
      if (leaf_[sw] && few && is_bridge(sw, seen_from)) bridges.push_back(sw);
    }
    // What other leaves join is one subtree, however many cables it has lost.
    DisjointSets subtrees{graph_.switches()};
    for (const SwitchIdx sw : leaf_.indices()) {
      if (!leaf_[sw] || std::binary_search(bridges.begin(), bridges.end(), sw)) continue;
      for (const SwitchEdge& edge : graph_.edges(sw)) subtrees.join(sw, edge.to);
    }
    std::erase_if(bridges, [&](SwitchIdx sw) {
      const auto edges = graph_.edges(sw);
      const SwitchIdx first = subtrees.find(edges.front().to);
      return std::all_of(edges.begin(), edges.end(), [&](const SwitchEdge& edge) {
        return subtrees.find(edge.to) == first;
      });
    });
    // Where there are many of them this is no tree with a few hosts in the wrong place.
    if (bridges.size() > std::max<std::size_t>(2, count_leaves() / 8)) return;
    for (const SwitchIdx sw : bridges) leaf_[sw] = 0;
    for (const std::vector<SwitchIdx>& island : islands_) {
      if (std::any_of(island.begin(), island.end(), [&](SwitchIdx sw) { return leaf_[sw] != 0; }))
        continue;
      for (const SwitchIdx sw : island)
        leaf_[sw] = std::binary_search(bridges.begin(), bridges.end(), sw);
    }
  }

  [[nodiscard]] std::size_t count_leaf_links(SwitchIdx sw) const {
    const auto edges = graph_.edges(sw);
    return static_cast<std::size_t>(std::count_if(
        edges.begin(), edges.end(), [&](const SwitchEdge& edge) { return leaf_[edge.to] != 0; }));
  }

  void drop_neighbours() {
    const std::size_t most = std::max<std::size_t>(1, count_leaves() / 16);
    for (std::size_t dropped = 0; dropped < most; ++dropped) {
      SwitchIdx worst = kNone<SwitchIdx>;
      std::size_t worst_links = 0;
      for (const SwitchIdx sw : leaf_.indices()) {
        if (!leaf_[sw]) continue;
        const std::size_t links = count_leaf_links(sw);
        if (links == 0 || links < worst_links) continue;
        const auto order = [&](SwitchIdx s) { return std::pair{hosts_[s], guids_[s]}; };
        if (links == worst_links && order(sw) > order(worst)) continue;
        worst = sw;
        worst_links = links;
      }
      if (worst == kNone<SwitchIdx>) return;
      const std::size_t before = count_level_links(graph_, level_);
      leaf_[worst] = 0;
      measure();
      if (count_level_links(graph_, level_) < before) continue;
      leaf_[worst] = 1;
      measure();
      return;
    }
  }

  // Half the links between the leaves that are farthest from each other, but for a few that damage
  // may have led round; 0 when there is one leaf.
  [[nodiscard]] std::uint32_t find_top(const std::vector<SwitchIdx>& island) const {
    SwitchIdx from = kNone<SwitchIdx>;
    for (const SwitchIdx sw : island) {
      if (leaf_[sw] && (from == kNone<SwitchIdx> || guids_[sw] < guids_[from])) from = sw;
    }
    const auto distance = compute_distances(graph_, {&from, 1});
    std::vector<std::uint32_t> links;
    for (const SwitchIdx sw : island) {
      if ((leaf_[sw] || hosts_[sw] != 0) && distance[sw] % 2 == 0) links.push_back(distance[sw]);
    }
    std::sort(links.begin(), links.end());
    return links[links.size() - 1 - links.size() / 32] / 2;
  }

  // One step above the leaves' neighbours and below nobody: cores if they join subtrees, else
  // leaves without hosts.
  void add_bare() {
    DisjointSets subtrees{graph_.switches()};
    for (const SwitchIdx sw : level_.indices()) {
      if (level_[sw] != 1) continue;
      for (const SwitchEdge& edge : graph_.edges(sw)) {
        if (level_[edge.to] == 0) subtrees.join(sw, edge.to);
      }
    }
    bool joined = false;  // some switch joins subtrees
    std::vector<SwitchIdx> under_one;
    for (const SwitchIdx sw : level_.indices()) {
      if (level_[sw] != 2) continue;
      bool one = true, lowest = true;
      SwitchIdx subtree = kNone<SwitchIdx>;
      for (const SwitchEdge& edge : graph_.edges(sw)) {
        if (level_[edge.to] != 1) {
          lowest = false;
          continue;
        }
        const SwitchIdx own = subtrees.find(edge.to);
        one = one && (subtree == kNone<SwitchIdx> || subtree == own);
        subtree = own;
      }
      joined = joined || !one;
      if (one && lowest) under_one.push_back(sw);
    }
    IndexVector<SwitchIdx, std::uint32_t> top(graph_.switches(), 0);  // of the island
    for (const std::vector<SwitchIdx>& island : islands_) {
      if (island.size() < 3) continue;
      const std::uint32_t own = find_top(island);
      for (const SwitchIdx sw : island) {
        top[sw] = own;
        if (own != 0 && level_[sw] == 2 * own) leaf_[sw] = 1;
      }
    }
    if (joined) {
      for (const SwitchIdx sw : under_one) leaf_[sw] = 1;
    }
    measure();
    // Reached from the cores only: as far below them as it seems to be above.
    for (const SwitchIdx sw : level_.indices()) {
      if (level_[sw] > top[sw] && level_[sw] < 2 * top[sw]) level_[sw] = 2 * top[sw] - level_[sw];
    }
  }

  const SwitchGraph& graph_;
  const IndexVector<SwitchIdx, Guid>& guids_;
  const IndexVector<SwitchIdx, std::uint32_t>& hosts_;
  const std::vector<std::vector<SwitchIdx>> islands_;
  IndexVector<SwitchIdx, char> leaf_;
  std::uint32_t usual_ = 0;  // hosts on a switch that has any
  IndexVector<SwitchIdx, std::uint32_t> level_;
};

}  // namespace

IndexVector<SwitchIdx, std::uint32_t> find_tree_levels(
    const SwitchGraph& graph,
    const IndexVector<SwitchIdx, Guid>& guids,
    const IndexVector<SwitchIdx, std::uint32_t>& hosts) {
  return LevelFinder{graph, guids, hosts}.run();
}

std::size_t count_level_links(const SwitchGraph& graph,
                              const IndexVector<SwitchIdx, std::uint32_t>& level) {
  std::size_t ends = 0;
  for (const SwitchIdx sw : level.indices()) {
    for (const SwitchEdge& edge : graph.edges(sw)) ends += level[edge.to] == level[sw];
  }
  return ends / 2;
}

}  // namespace smd

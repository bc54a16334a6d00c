#include "smd/routing/updn/level_order.h"

#include <algorithm>
#include <tuple>
#include <utility>
#include <vector>

#include "smd/routing/updn/orientation_repair.h"

namespace smd {
namespace {

// Switches that keep the order of the levels come after all others.
constexpr std::uint32_t kFoot = 1u << 24;

class TreeOrder {
 public:
  TreeOrder(const SwitchGraph& graph,
            const IndexVector<SwitchIdx, Guid>& guids,
            const IndexVector<SwitchIdx, std::uint32_t>& hosts,
            const IndexVector<SwitchIdx, std::uint32_t>& level)
      : graph_(graph),
        guids_(guids),
        hosts_(hosts),
        level_(level),
        rank_(graph.switches(), kUnreached),
        free_(graph.switches(), 0),
        seen_(graph.switches(), 0) {}

  IndexVector<SwitchIdx, std::uint32_t> run() {
    for (const SwitchIdx sw : guids_.indices()) by_level_.push_back(sw);
    std::stable_sort(by_level_.begin(), by_level_.end(), [&](SwitchIdx a, SwitchIdx b) {
      return level_[a] > level_[b];
    });
    const auto islands = find_islands(graph_);
    for (const std::vector<SwitchIdx>& island : islands) lift(choose_apex(island));
    for (SwitchIdx sw = find_next(); sw != kNone<SwitchIdx>; sw = find_next()) hang(sw);
    for (const SwitchIdx sw : guids_.indices()) {
      if (rank_[sw] == kUnreached) rank_[sw] = kFoot - level_[sw];
    }
    // Islands that hang together only by links within a level.
    for (const std::vector<SwitchIdx>& island : islands)
      static_cast<void>(repair_orientation(graph_, guids_, island, rank_));
    return std::move(rank_);
  }

 private:
  SwitchIdx choose_apex(const std::vector<SwitchIdx>& island) const {
    return *std::min_element(island.begin(), island.end(), [&](SwitchIdx a, SwitchIdx b) {
      return std::tuple{level_[a] != 0, hosts_[a] == 0, guids_[a]} <
             std::tuple{level_[b] != 0, hosts_[b] == 0, guids_[b]};
    });
  }

  // Switches that can be climbed to, `from` first; level by level, so in rising order.
  const std::vector<SwitchIdx>& climb(SwitchIdx from) {
    climb_.assign(1, from);
    seen_[from] = 1;
    for (std::size_t at = 0; at < climb_.size(); ++at) {
      for (const SwitchEdge& edge : graph_.edges(climb_[at])) {
        if (level_[edge.to] != level_[climb_[at]] + 1 || seen_[edge.to]) continue;
        seen_[edge.to] = 1;
        climb_.push_back(edge.to);
      }
    }
    for (const SwitchIdx sw : climb_) seen_[sw] = 0;
    return climb_;
  }

  void lift(SwitchIdx apex) {
    for (const SwitchIdx sw : climb(apex)) {
      rank_[sw] = level_[sw];
      last_ = std::max(last_, rank_[sw]);
    }
  }

  [[nodiscard]] bool is_placed(SwitchIdx sw) const { return rank_[sw] != kUnreached; }

  // free_: climbs only to what is placed. The next one to hang others from is the highest that
  // climbs both there and to a top that has no place yet; of those the one with most such tops.
  SwitchIdx find_next() {
    free_.assign(free_.size(), 0);
    candidates_.clear();
    for (const SwitchIdx sw : by_level_) {
      if (is_placed(sw)) continue;
      bool some = false, all = true;
      for (const SwitchEdge& edge : graph_.edges(sw)) {
        if (level_[edge.to] != level_[sw] + 1) continue;
        const bool good = is_placed(edge.to) || free_[edge.to];
        some = some || good;
        all = all && good;
      }
      free_[sw] = some && all;
      if (!some || all) continue;
      if (!candidates_.empty() && level_[sw] != level_[candidates_[0]]) break;
      candidates_.push_back(sw);
    }
    SwitchIdx best = kNone<SwitchIdx>;
    std::size_t best_tops = 0;
    for (const SwitchIdx sw : candidates_) {
      const std::size_t tops = count_tops(sw);
      if (best != kNone<SwitchIdx> &&
          (tops < best_tops || (tops == best_tops && guids_[best] < guids_[sw])))
        continue;
      best = sw;
      best_tops = tops;
    }
    return best;
  }

  std::size_t count_tops(SwitchIdx from) {
    std::size_t tops = 0;
    for (const SwitchIdx sw : climb(from)) {
      const auto edges = graph_.edges(sw);
      tops += !is_placed(sw) && std::none_of(edges.begin(), edges.end(), [&](const auto& edge) {
        return level_[edge.to] == level_[sw] + 1;
      });
    }
    return tops;
  }

  // Below what is placed: first what `sw` climbs by to get there, which keeps its directions, then
  // `sw` itself, then what it climbs to besides, turned round.
  void hang(SwitchIdx sw) {
    const std::vector<SwitchIdx>& reached = climb(sw);
    for (std::size_t at = reached.size(); at-- > 0;) {
      if (!is_placed(reached[at]) && free_[reached[at]]) place(reached[at]);
    }
    for (const SwitchIdx other : reached) {
      if (!is_placed(other)) place(other);
    }
  }

  void place(SwitchIdx sw) { rank_[sw] = ++last_; }

  const SwitchGraph& graph_;
  const IndexVector<SwitchIdx, Guid>& guids_;
  const IndexVector<SwitchIdx, std::uint32_t>& hosts_;
  const IndexVector<SwitchIdx, std::uint32_t>& level_;
  IndexVector<SwitchIdx, std::uint32_t> rank_;
  std::vector<SwitchIdx> by_level_;  // highest first
  IndexVector<SwitchIdx, char> free_;
  IndexVector<SwitchIdx, char> seen_;
  std::vector<SwitchIdx> climb_;
  std::vector<SwitchIdx> candidates_;
  std::uint32_t last_ = 0;
};

}  // namespace

IndexVector<SwitchIdx, std::uint32_t> rank_by_levels(
    const SwitchGraph& graph,
    const IndexVector<SwitchIdx, Guid>& guids,
    const IndexVector<SwitchIdx, std::uint32_t>& hosts,
    const IndexVector<SwitchIdx, std::uint32_t>& level) {
  return TreeOrder{graph, guids, hosts, level}.run();
}

}  // namespace smd

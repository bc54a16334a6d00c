#include "smd/routing/updn/islands.h"

#include <algorithm>
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

#include "smd/base/check.h"

namespace smd {
namespace {

using Ranks = IndexVector<SwitchIdx, std::uint32_t>;
using Guids = IndexVector<SwitchIdx, Guid>;

bool is_above(const Ranks& rank, const Guids& guids, SwitchIdx a, SwitchIdx b) {
  return rank[a] != rank[b] ? rank[a] < rank[b] : guids[a] < guids[b];
}

class Repair {
 public:
  Repair(const SwitchGraph& graph,
         const Guids& guids,
         const std::vector<SwitchIdx>& island,
         Ranks& rank)
      : graph_(graph), guids_(guids), island_(island), rank_(rank), place_(rank.size(), 0) {}

  std::vector<SwitchIdx> run() {
    std::vector<SwitchIdx> tops = find_tops(graph_, guids_, island_, rank_);
    if (tops.size() > 2) {
      if (const SwitchIdx over = find_over(tops); over != kNone<SwitchIdx>) {
        raise(over, tops[0]);
        tops.resize(1);
      }
    }
    for (; tops.size() > 1; tops = find_tops(graph_, guids_, island_, rank_)) hang(tops[1]);
    std::ranges::sort(altered_);
    const auto [first, last] = std::ranges::unique(altered_);
    altered_.erase(first, last);
    return std::move(altered_);
  }

 private:
  // Where the top goes: behind that place of the order, after those between it and its new path up.
  struct Hook {
    std::size_t after = 0;
    std::vector<SwitchIdx> path;  // the upmost first; the top is the last
    std::size_t moves = 0;  // switches that change places, those that must stay below included
  };

  bool above(SwitchIdx a, SwitchIdx b) const { return is_above(rank_, guids_, a, b); }

  SwitchIdx find_over(const std::vector<SwitchIdx>& tops) const {
    SwitchIdx best = kNone<SwitchIdx>;
    for (const SwitchIdx sw : island_) {
      const bool all = std::all_of(tops.begin(), tops.end(), [&](SwitchIdx top) {
        const auto edges = graph_.edges(sw);
        return std::any_of(
            edges.begin(), edges.end(), [&](const SwitchEdge& edge) { return edge.to == top; });
      });
      if (all && (best == kNone<SwitchIdx> || above(sw, best))) best = sw;
    }
    return best;
  }

  void raise(SwitchIdx sw, SwitchIdx top) {
    if (rank_[top] == 0) {
      for (const SwitchIdx each : island_) ++rank_[each];
    }
    rank_[sw] = rank_[top] - 1;
    altered_.push_back(sw);
  }

  void hang(SwitchIdx top) {
    order_ = island_;
    std::ranges::sort(order_, [&](SwitchIdx a, SwitchIdx b) { return above(a, b); });
    for (std::size_t at = 0; at < order_.size(); ++at) place_[order_[at]] = at;
    find_descendants(top);
    const Hook hook = find_hook();
    std::vector<SwitchIdx> moved = hook.path;
    is_moved_.assign(rank_.size(), 0);
    for (const SwitchIdx sw : moved) is_moved_[sw] = 1;
    for (std::size_t at = 0; at < hook.after; ++at) {
      const SwitchIdx sw = order_[at];
      if (distance_[sw] == kUnreached || is_moved_[sw]) continue;
      is_moved_[sw] = 1;
      moved.push_back(sw);
    }
    insert(hook.after, hook.path.size(), moved);
  }

  // By links down; in `below_`, the nearest first.
  void find_descendants(SwitchIdx top) {
    distance_.assign(rank_.size(), kUnreached);
    came_from_.assign(rank_.size(), kNone<SwitchIdx>);
    distance_[top] = 0;
    below_.assign(1, top);
    for (std::size_t at = 0; at < below_.size(); ++at) {
      for (const SwitchEdge& edge : graph_.edges(below_[at])) {
        if (distance_[edge.to] != kUnreached || above(edge.to, below_[at])) continue;
        distance_[edge.to] = distance_[below_[at]] + 1;
        came_from_[edge.to] = below_[at];
        below_.push_back(edge.to);
      }
    }
  }

  // Somebody below the top who has a neighbour above him that the top does not reach: there is one,
  // since the island has another top. Of the nearest the one for whom fewest move, then the upmost.
  Hook find_hook() const {
    std::vector<std::size_t> descendants(order_.size() + 1, 0);  // by place: how many come before
    for (std::size_t at = 0; at < order_.size(); ++at)
      descendants[at + 1] = descendants[at] + (distance_[order_[at]] != kUnreached);
    std::optional<Hook> best;
    SwitchIdx chosen = kNone<SwitchIdx>;
    for (const SwitchIdx sw : below_) {
      if (best && distance_[sw] > distance_[chosen]) break;
      const std::size_t foothold = find_foothold(sw);
      if (foothold == order_.size()) continue;
      // Either he stays and the others come behind him, or he comes along.
      for (const bool stays : {true, false}) {
        Hook hook{.after = stays ? place_[sw] : foothold, .path = {}, .moves = 0};
        hook.moves = descendants[hook.after];
        for (SwitchIdx at = stays ? came_from_[sw] : sw; at != kNone<SwitchIdx>;
             at = came_from_[at]) {
          hook.path.push_back(at);
          hook.moves += place_[at] > hook.after;
        }
        if (best && std::pair(hook.moves, place_[sw]) >= std::pair(best->moves, place_[chosen]))
          continue;
        best = std::move(hook);
        chosen = sw;
      }
    }
    SMD_CHECK(best.has_value(), "another top of the island can be climbed to");
    return std::move(*best);
  }

  // The place of the last neighbour above him that is not below the top; the order's end if none.
  std::size_t find_foothold(SwitchIdx sw) const {
    std::size_t last = order_.size();
    for (const SwitchEdge& edge : graph_.edges(sw)) {
      if (distance_[edge.to] != kUnreached || !above(edge.to, sw)) continue;
      if (last == order_.size() || place_[edge.to] > last) last = place_[edge.to];
    }
    return last;
  }

  // Behind that place: the first `apart` one below the other, the rest with the differences that
  // they have.
  void insert(std::size_t after, std::size_t apart, const std::vector<SwitchIdx>& moved) {
    const std::uint32_t base = rank_[order_[after]];
    std::uint32_t last = base;
    std::uint32_t level = kUnreached;
    std::vector<std::pair<SwitchIdx, std::uint32_t>> ranks;
    for (std::size_t i = 0; i < moved.size(); ++i) {
      if (i < apart || rank_[moved[i]] != level) ++last;
      if (i >= apart) level = rank_[moved[i]];
      ranks.emplace_back(moved[i], last);
    }
    std::uint32_t room = kUnreached;  // the rank of the first that stays behind them
    for (std::size_t at = after + 1; at < order_.size() && room == kUnreached; ++at) {
      if (!is_moved_[order_[at]]) room = rank_[order_[at]];
    }
    const std::uint32_t shift = room > last ? 0 : last + 1 - room;
    for (std::size_t at = after + 1; at < order_.size(); ++at) rank_[order_[at]] += shift;
    for (const auto& [sw, rank] : ranks) rank_[sw] = rank;
    altered_.insert(altered_.end(), moved.begin(), moved.end());
  }

  const SwitchGraph& graph_;
  const Guids& guids_;
  const std::vector<SwitchIdx>& island_;
  Ranks& rank_;
  std::vector<SwitchIdx> altered_;
  // Of the top that is being hung:
  std::vector<SwitchIdx> order_, below_;
  IndexVector<SwitchIdx, std::size_t> place_;       // in `order_`
  IndexVector<SwitchIdx, std::uint32_t> distance_;  // in links down from the top
  IndexVector<SwitchIdx, SwitchIdx> came_from_;
  IndexVector<SwitchIdx, char> is_moved_;
};

}  // namespace

std::vector<std::vector<SwitchIdx>> find_islands(const SwitchGraph& graph) {
  std::vector<std::vector<SwitchIdx>> islands;
  IndexVector<SwitchIdx, char> seen(graph.switches(), 0);
  for (const SwitchIdx start : seen.indices()) {
    if (seen[start]) continue;
    std::vector<SwitchIdx> island{start};
    seen[start] = 1;
    for (std::size_t at = 0; at < island.size(); ++at) {
      for (const SwitchEdge& edge : graph.edges(island[at])) {
        if (seen[edge.to]) continue;
        seen[edge.to] = 1;
        island.push_back(edge.to);
      }
    }
    std::sort(island.begin(), island.end());
    islands.push_back(std::move(island));
  }
  return islands;
}

std::vector<SwitchIdx> find_tops(const SwitchGraph& graph,
                                 const Guids& guids,
                                 const std::vector<SwitchIdx>& island,
                                 const Ranks& rank) {
  std::vector<SwitchIdx> tops;
  for (const SwitchIdx sw : island) {
    const auto edges = graph.edges(sw);
    if (std::none_of(edges.begin(), edges.end(), [&](const SwitchEdge& edge) {
          return is_above(rank, guids, edge.to, sw);
        }))
      tops.push_back(sw);
  }
  std::sort(tops.begin(), tops.end(), [&](SwitchIdx a, SwitchIdx b) {
    return is_above(rank, guids, a, b);
  });
  return tops;
}

std::vector<SwitchIdx> repair_orientation(const SwitchGraph& graph,
                                          const Guids& guids,
                                          const std::vector<SwitchIdx>& island,
                                          Ranks& rank) {
  return Repair{graph, guids, island, rank}.run();
}

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

#include "smd/routing/orientation_repair.h"

#include <algorithm>

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
      : graph_(graph), guids_(guids), island_(island), rank_(rank) {}

  bool run() {
    const std::vector<SwitchIdx> tops = find_tops(graph_, guids_, island_, rank_);
    if (tops.size() <= 1) return false;
    if (tops.size() == 2 && demote(tops[0], tops[1])) return false;
    if (const SwitchIdx over = find_over(tops); over != kNone<SwitchIdx>)
      return raise(over, tops[0]);
    force(tops[0]);
    return false;
  }

 private:
  bool above(SwitchIdx a, SwitchIdx b) const { return is_above(rank_, guids_, a, b); }

  // Switches that can climb to `top`.
  void find_climbers(SwitchIdx top) {
    climbs_.assign(rank_.size(), 0);
    climbs_[top] = 1;
    std::vector<SwitchIdx> queue{top};
    for (std::size_t at = 0; at < queue.size(); ++at) {
      for (const SwitchEdge& edge : graph_.edges(queue[at])) {
        if (climbs_[edge.to] || !above(queue[at], edge.to)) continue;
        climbs_[edge.to] = 1;
        queue.push_back(edge.to);
      }
    }
  }

  // Rank just below the upmost neighbour that climbs; kUnreached when there is none.
  std::uint32_t rank_below_climber(SwitchIdx sw) const {
    std::uint32_t best = kUnreached;
    for (const SwitchEdge& edge : graph_.edges(sw)) {
      if (climbs_[edge.to]) best = std::min(best, rank_[edge.to] + 1);
    }
    return best;
  }

  bool demote(SwitchIdx top, SwitchIdx other) {
    find_climbers(top);
    const std::uint32_t below = rank_below_climber(other);
    if (below == kUnreached) return false;
    const std::uint32_t before = rank_[other];
    rank_[other] = below;
    if (find_tops(graph_, guids_, island_, rank_).size() == 1) return true;
    rank_[other] = before;
    return false;
  }

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

  bool raise(SwitchIdx sw, SwitchIdx top) {
    const bool no_room = rank_[top] == 0;
    if (no_room) {
      for (std::uint32_t& rank : rank_) {
        if (rank != kUnreached) ++rank;
      }
    }
    rank_[sw] = rank_[top] - 1;
    return no_room;
  }

  void force(SwitchIdx top) {
    for (;;) {
      find_climbers(top);
      SwitchIdx chosen = kNone<SwitchIdx>;
      for (const SwitchIdx sw : island_) {
        if (climbs_[sw] || rank_below_climber(sw) == kUnreached) continue;
        if (chosen == kNone<SwitchIdx> || above(sw, chosen)) chosen = sw;
      }
      if (chosen == kNone<SwitchIdx>) return;
      rank_[chosen] = rank_below_climber(chosen);
    }
  }

  const SwitchGraph& graph_;
  const Guids& guids_;
  const std::vector<SwitchIdx>& island_;
  Ranks& rank_;
  IndexVector<SwitchIdx, char> climbs_;
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

bool repair_orientation(const SwitchGraph& graph,
                        const Guids& guids,
                        const std::vector<SwitchIdx>& island,
                        Ranks& rank) {
  return Repair{graph, guids, island, rank}.run();
}

}  // namespace smd

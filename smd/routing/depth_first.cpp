#include "smd/routing/depth_first.h"

#include <algorithm>

namespace smd {
namespace {

// Bounds on the work, in cables looked at.
constexpr std::uint64_t kTrialBudget = 1u << 26;
constexpr std::uint64_t kDistanceBudget = 1u << 28;

using Ranks = IndexVector<SwitchIdx, std::uint32_t>;

std::vector<SwitchIdx> sample(std::vector<SwitchIdx> from, std::size_t count) {
  if (from.size() <= count) return from;
  for (std::size_t i = 0; i < count; ++i) from[i] = from[i * from.size() / count];
  from.resize(count);
  return from;
}

class Walk {
 public:
  Walk(const SwitchGraph& graph,
       const IndexVector<SwitchIdx, Guid>& guids,
       const std::vector<SwitchIdx>& island)
      : graph_(graph), guids_(guids), met_cables_(graph.switches(), 0), far_(graph.switches(), 0) {
    std::uint64_t cables = 1;
    for (const SwitchIdx sw : island) cables += graph.edges(sw).size();
    for (const SwitchIdx from : sample(island, kDistanceBudget / cables + 1)) {
      const auto distance = compute_distances(graph, {&from, 1});
      for (const SwitchIdx sw : island) far_[sw] += distance[sw];
    }
  }

  void start(SwitchIdx root, const std::vector<SwitchIdx>& island, Ranks& rank) {
    for (const SwitchIdx sw : island) {
      rank[sw] = kUnreached;
      met_cables_[sw] = 0;
    }
    std::uint32_t count = 0;
    const auto meet = [&](SwitchIdx sw) {
      rank[sw] = count++;
      for (const SwitchEdge& edge : graph_.edges(sw)) ++met_cables_[edge.to];
      path_.push_back(sw);
    };
    path_.clear();
    meet(root);
    while (!path_.empty()) {
      const SwitchIdx onward = choose(path_.back(), rank);
      if (onward == kNone<SwitchIdx>) {
        path_.pop_back();
      } else {
        meet(onward);
      }
    }
  }

 private:
  [[nodiscard]] SwitchIdx choose(SwitchIdx at, const Ranks& rank) const {
    SwitchIdx best = kNone<SwitchIdx>;
    for (const SwitchEdge& edge : graph_.edges(at)) {
      if (rank[edge.to] != kUnreached || edge.to == best) continue;
      if (best == kNone<SwitchIdx> || precedes(edge.to, best)) best = edge.to;
    }
    return best;
  }

  [[nodiscard]] bool precedes(SwitchIdx a, SwitchIdx b) const {
    if (met_cables_[a] != met_cables_[b]) return met_cables_[a] > met_cables_[b];
    if (far_[a] != far_[b]) return far_[a] > far_[b];
    return guids_[a] < guids_[b];
  }

  const SwitchGraph& graph_;
  const IndexVector<SwitchIdx, Guid>& guids_;
  IndexVector<SwitchIdx, std::uint32_t> met_cables_;
  IndexVector<SwitchIdx, std::uint64_t> far_;  // summed distance to the others
  std::vector<SwitchIdx> path_;
};

}  // namespace

std::uint64_t count_forbidden_turns(const SwitchGraph& graph,
                                    const IndexVector<SwitchIdx, Guid>& guids,
                                    const std::vector<SwitchIdx>& island,
                                    const Ranks& rank) {
  std::uint64_t turns = 0;
  for (const SwitchIdx sw : island) {
    std::uint64_t up = 0;
    for (const SwitchEdge& edge : graph.edges(sw)) {
      up += rank[edge.to] != rank[sw] ? rank[edge.to] < rank[sw] : guids[edge.to] < guids[sw];
    }
    if (up > 0) turns += up * (up - 1);
  }
  return turns;
}

void rank_depth_first(const SwitchGraph& graph,
                      const IndexVector<SwitchIdx, Guid>& guids,
                      const std::vector<SwitchIdx>& island,
                      std::span<const SwitchIdx> roots,
                      Ranks& rank) {
  std::uint64_t cables = 1;
  for (const SwitchIdx sw : island) cables += graph.edges(sw).size();
  std::vector<SwitchIdx> trials{roots.begin(), roots.end()};
  std::ranges::sort(trials, {}, [&](SwitchIdx sw) { return guids[sw]; });
  trials = sample(std::move(trials), kTrialBudget / cables + 1);

  Walk walk{graph, guids, island};
  SwitchIdx best = trials[0];
  std::uint64_t fewest = 0;
  for (const SwitchIdx root : trials) {
    walk.start(root, island, rank);
    const std::uint64_t turns = count_forbidden_turns(graph, guids, island, rank);
    if (root != trials[0] && turns >= fewest) continue;
    fewest = turns;
    best = root;
  }
  walk.start(best, island, rank);
}

}  // namespace smd

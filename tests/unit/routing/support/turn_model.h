// What source routing could do on an orientation: an independent count of the routes that engines
// have to choose from.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

#include "smd/routing/graph/switch_graph.h"
#include "smd/routing/tables.h"

namespace smd::test {

class TurnModel {
 public:
  TurnModel(const Fabric& fabric, const Orientation& orientation) : graph_(fabric) {
    for (const NodeIdx n : fabric.switch_node) guids_.push_back(fabric.node_guid[n]);
    rank_ = orientation.rank;
  }

  struct Lengths {
    double minimal_share = 0;  // of ordered pairs with a shortest path that is legal
    double mean_legal = 0;
    double mean_shortest = 0;
  };

  /// Of shortest legal routes: up, then down.
  [[nodiscard]] Lengths measure_lengths() const {
    Lengths out;
    double pairs = 0;
    for (const SwitchIdx from : rank_.indices()) {
      const auto legal = find_legal(from);
      const auto shortest = compute_distances(graph_, {&from, 1});
      for (const SwitchIdx to : rank_.indices()) {
        if (to == from) continue;
        ++pairs;
        out.minimal_share += legal[to] == shortest[to];
        out.mean_legal += legal[to];
        out.mean_shortest += shortest[to];
      }
    }
    out.minimal_share /= pairs;
    out.mean_legal /= pairs;
    out.mean_shortest /= pairs;
    return out;
  }

  /// Turns from down to up on a shortest path, of all of a pair the average, averaged over pairs.
  [[nodiscard]] double measure_cuts() const {
    double sum = 0, pairs = 0;
    for (const SwitchIdx from : rank_.indices()) {
      const auto distance = compute_distances(graph_, {&from, 1});
      std::vector<SwitchIdx> near_to_far(rank_.indices().begin(), rank_.indices().end());
      std::ranges::stable_sort(near_to_far, {}, [&](SwitchIdx sw) { return distance[sw]; });
      // By the direction of the last link (0 up, 1 down): paths, and cuts on them together.
      IndexVector<SwitchIdx, std::array<double, 2>> paths(rank_.size(), {0, 0});
      IndexVector<SwitchIdx, std::array<double, 2>> cuts(rank_.size(), {0, 0});
      paths[from][0] = 1;
      for (const SwitchIdx sw : near_to_far) {
        for (const SwitchEdge& edge : graph_.edges(sw)) {
          if (distance[edge.to] != distance[sw] + 1) continue;
          const bool down = !above(edge.to, sw);
          for (const int last : {0, 1}) {
            paths[edge.to][down] += paths[sw][last];
            cuts[edge.to][down] += cuts[sw][last] + (last == 1 && !down ? paths[sw][last] : 0);
          }
        }
        if (sw == from) continue;
        ++pairs;
        sum += (cuts[sw][0] + cuts[sw][1]) / (paths[sw][0] + paths[sw][1]);
      }
    }
    return sum / pairs;
  }

  [[nodiscard]] bool above(SwitchIdx a, SwitchIdx b) const {
    return rank_[a] != rank_[b] ? rank_[a] < rank_[b] : guids_[a] < guids_[b];
  }

 private:
  // Breadth-first over (switch, has gone down).
  [[nodiscard]] IndexVector<SwitchIdx, std::uint32_t> find_legal(SwitchIdx from) const {
    IndexVector<SwitchIdx, std::array<std::uint32_t, 2>> at(rank_.size(), {kUnreached, kUnreached});
    std::vector<std::pair<SwitchIdx, bool>> queue{{from, false}};
    at[from][0] = 0;
    for (std::size_t i = 0; i < queue.size(); ++i) {
      const auto [sw, down] = queue[i];
      for (const SwitchEdge& edge : graph_.edges(sw)) {
        const bool descends = !above(edge.to, sw);
        if ((down && !descends) || at[edge.to][descends] != kUnreached) continue;
        at[edge.to][descends] = at[sw][down] + 1;
        queue.emplace_back(edge.to, descends);
      }
    }
    IndexVector<SwitchIdx, std::uint32_t> best(rank_.size());
    for (const SwitchIdx sw : rank_.indices()) best[sw] = std::min(at[sw][0], at[sw][1]);
    return best;
  }

  SwitchGraph graph_;
  IndexVector<SwitchIdx, Guid> guids_;
  IndexVector<SwitchIdx, std::uint32_t> rank_;
};

}  // namespace smd::test

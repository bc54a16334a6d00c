#include "smd/plan/lane_turn_graph.h"

#include <algorithm>

namespace smd {

bool LaneTurnGraph::has(const Edge& edge) const {
  return std::ranges::find(next_[edge.first], edge.second) != next_[edge.first].end();
}

void LaneTurnGraph::add(const Edge& edge) {
  if (has(edge)) return;
  next_[edge.first].push_back(edge.second);
  before_[edge.second].push_back(edge.first);
}

void LaneTurnGraph::remove(const Edge& edge) {
  next_[edge.first].erase(std::ranges::find(next_[edge.first], edge.second));
  before_[edge.second].erase(std::ranges::find(before_[edge.second], edge.first));
}

bool LaneTurnGraph::sort() {
  std::vector<std::size_t> waits(next_.size(), 0);
  std::vector<Lane> free;
  for (Lane lane = 0; lane < next_.size(); ++lane) {
    waits[lane] = before_[lane].size();
    if (waits[lane] == 0) free.push_back(lane);
  }
  for (std::size_t at = 0; at < free.size(); ++at) {
    place_[free[at]] = static_cast<std::uint32_t>(at);
    for (const Lane next : next_[free[at]]) {
      if (--waits[next] == 0) free.push_back(next);
    }
  }
  return free.size() == next_.size();
}

bool LaneTurnGraph::insert(const Edge& edge) {
  if (has(edge)) return true;
  const auto neighbours = [](const auto& lists) {
    return [&lists](Lane lane, auto&& visit) { std::ranges::for_each(lists[lane], visit); };
  };
  if (!mender_.mend(place_, edge.first, edge.second, neighbours(next_), neighbours(before_)))
    return false;
  add(edge);
  return true;
}

}  // namespace smd

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
  seen_.assign(next_.size(), 0);
  return free.size() == next_.size();
}

// Lanes that follow `from` and stand no higher than `goal`; false when one of them is `goal`.
bool LaneTurnGraph::reach_forward(Lane from, Lane goal) {
  const std::uint32_t ceiling = place_[goal];
  bool free = true;
  ahead_.clear();
  stack_.assign(1, from);
  seen_[from] = 1;
  while (!stack_.empty() && free) {
    const Lane lane = stack_.back();
    stack_.pop_back();
    ahead_.push_back(lane);
    for (const Lane next : next_[lane]) {
      if (next == goal) free = false;
      if (seen_[next] || place_[next] > ceiling) continue;
      seen_[next] = 1;
      stack_.push_back(next);
    }
  }
  for (const Lane lane : stack_) seen_[lane] = 0;
  for (const Lane lane : ahead_) seen_[lane] = 0;
  return free;
}

void LaneTurnGraph::reach_back(Lane from, std::uint32_t floor) {
  behind_.clear();
  stack_.assign(1, from);
  seen_[from] = 1;
  while (!stack_.empty()) {
    const Lane lane = stack_.back();
    stack_.pop_back();
    behind_.push_back(lane);
    for (const Lane before : before_[lane]) {
      if (seen_[before] || place_[before] < floor) continue;
      seen_[before] = 1;
      stack_.push_back(before);
    }
  }
  for (const Lane lane : behind_) seen_[lane] = 0;
}

// Gives the places that `behind_` and `ahead_` hold to all of `behind_`, then all of `ahead_`.
void LaneTurnGraph::reorder() {
  const auto by_place = [&](Lane lane) { return place_[lane]; };
  std::ranges::sort(behind_, {}, by_place);
  std::ranges::sort(ahead_, {}, by_place);
  std::vector<std::uint32_t> places;
  for (const Lane lane : behind_) places.push_back(place_[lane]);
  for (const Lane lane : ahead_) places.push_back(place_[lane]);
  std::ranges::sort(places);
  std::size_t at = 0;
  for (const Lane lane : behind_) place_[lane] = places[at++];
  for (const Lane lane : ahead_) place_[lane] = places[at++];
}

bool LaneTurnGraph::insert(const Edge& edge) {
  if (has(edge)) return true;
  const auto [from, to] = edge;
  if (from == to) return false;
  if (place_[from] > place_[to]) {
    if (!reach_forward(to, from)) return false;
    reach_back(from, place_[to]);
    reorder();
  }
  add(edge);
  return true;
}

}  // namespace smd

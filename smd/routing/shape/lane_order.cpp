#include "smd/routing/shape/lane_order.h"

#include <algorithm>
#include <numeric>

namespace smd {

LaneOrder::LaneOrder(const NeighbourGraph& graph) : graph_(graph), met_(graph.sides(), 0) {
  std::vector<std::uint32_t> other(graph.links(), 0xffffffff);
  back_.assign(graph.sides(), 0);
  std::size_t bits = 0;
  for (std::uint32_t s = 0; s < graph.switches(); ++s) {
    const SwitchIdx sw{s};
    std::uint32_t side = graph.first(sw);
    for (const Neighbour& n : graph.around(sw)) {
      begin_.push_back(sw);
      end_.push_back(n.to);
      first_bit_.push_back(bits);
      bits += graph.around(n.to).size();
      if (other[n.link] == 0xffffffff) {
        other[n.link] = side;
      } else {
        back_[side] = other[n.link];
        back_[other[n.link]] = side;
      }
      ++side;
    }
  }
  depends_.assign(bits, 0);
  place_.resize(graph.sides());
  std::iota(place_.begin(), place_.end(), 0u);
}

bool LaneOrder::add_all(std::span<const std::vector<std::uint32_t>> paths) {
  fresh_.clear();
  for (const std::vector<std::uint32_t>& path : paths) {
    if (add(path)) continue;
    // The order still agrees with what is left.
    for (const std::size_t dependency : fresh_) depends_[dependency] = 0;
    return false;
  }
  return true;
}

bool LaneOrder::add(const std::vector<std::uint32_t>& path) {
  for (std::size_t i = 1; i < path.size(); ++i) {
    const std::size_t dependency = bit(path[i - 1], path[i]);
    if (depends_[dependency]) continue;
    if (!insert(path[i - 1], path[i])) return false;
    depends_[dependency] = 1;
    fresh_.push_back(dependency);
  }
  return true;
}

bool LaneOrder::insert(std::uint32_t from, std::uint32_t to) {
  if (place_[from] < place_[to]) return true;
  down_.clear();
  up_.clear();
  const bool free = reach_down(to, from, place_[from]);
  if (free) {
    reach_up(from, place_[to]);
    reorder();
  }
  for (const std::uint32_t side : down_) met_[side] = 0;
  for (const std::uint32_t side : up_) met_[side] = 0;
  return free;
}

bool LaneOrder::reach_down(std::uint32_t from, std::uint32_t goal, std::uint32_t highest) {
  stack_.assign(1, from);
  met_[from] = 1;
  down_.push_back(from);
  while (!stack_.empty()) {
    const std::uint32_t side = stack_.back();
    stack_.pop_back();
    if (side == goal) return false;
    const std::uint32_t first = graph_.first(end_[side]);
    const auto degree = static_cast<std::uint32_t>(graph_.around(end_[side]).size());
    for (std::uint32_t next = first; next < first + degree; ++next) {
      if (!depends_[bit(side, next)] || met_[next] || place_[next] > highest) continue;
      met_[next] = 1;
      down_.push_back(next);
      stack_.push_back(next);
    }
  }
  return true;
}

void LaneOrder::reach_up(std::uint32_t from, std::uint32_t lowest) {
  stack_.assign(1, from);
  met_[from] = 1;
  up_.push_back(from);
  while (!stack_.empty()) {
    const std::uint32_t side = stack_.back();
    stack_.pop_back();
    const std::uint32_t first = graph_.first(begin_[side]);
    const auto degree = static_cast<std::uint32_t>(graph_.around(begin_[side]).size());
    for (std::uint32_t own = first; own < first + degree; ++own) {
      const std::uint32_t before = back_[own];
      if (!depends_[bit(before, side)] || met_[before] || place_[before] < lowest) continue;
      met_[before] = 1;
      up_.push_back(before);
      stack_.push_back(before);
    }
  }
}

// What leads to the new dependency goes before what it leads to, in the places that both had.
void LaneOrder::reorder() {
  const auto by_place = [&](std::uint32_t a, std::uint32_t b) { return place_[a] < place_[b]; };
  std::sort(up_.begin(), up_.end(), by_place);
  std::sort(down_.begin(), down_.end(), by_place);
  free_.clear();
  for (const std::uint32_t side : up_) free_.push_back(place_[side]);
  for (const std::uint32_t side : down_) free_.push_back(place_[side]);
  std::sort(free_.begin(), free_.end());
  std::size_t at = 0;
  for (const std::uint32_t side : up_) place_[side] = free_[at++];
  for (const std::uint32_t side : down_) place_[side] = free_[at++];
}

}  // namespace smd

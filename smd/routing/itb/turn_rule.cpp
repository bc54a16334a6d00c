#include "smd/routing/itb/turn_rule.h"

#include <limits>

namespace smd {

UpDownRule::UpDownRule(const SwitchGraph& graph, const UpDownGraph& oriented)
    : is_up_(graph.edge_count(), 0) {
  for (const SwitchIdx sw : oriented.order()) {
    for (const UpDownGraph::Way& way : oriented.up(sw)) is_up_[way.edge] = 1;
  }
}

CycleRule::CycleRule(const SwitchGraph& graph, unsigned lanes)
    : turns_(graph), lanes_(lanes, LaneGraph{turns_}) {}

bool CycleRule::may_stay(std::uint32_t in, std::uint32_t out, unsigned lane) {
  const Dependency turn = turns_.between(in, out);
  if (lanes_[lane].has(turn)) return true;
  std::uint64_t budget = std::numeric_limits<std::uint64_t>::max();
  if (lanes_[lane].add(turn, budget) != LaneGraph::Answer::Added) return false;
  added_.push_back({turn, lane});
  return true;
}

void CycleRule::roll_back(std::size_t checkpoint) {
  for (; added_.size() > checkpoint; added_.pop_back())
    lanes_[added_.back().lane].remove(added_.back().turn);
}

}  // namespace smd

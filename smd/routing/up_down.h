// Next hops of legal routes to one destination switch.
#pragma once

#include "smd/routing/orientation.h"
#include "smd/routing/spread.h"

namespace smd {

/// Two phases: a switch with an all-down path takes the shortest such; any other goes up towards
/// the neighbour with the shortest route. Down comes before up even where up is shorter: a table
/// does not see where a packet comes from, and one that came down must find a way on downwards.
class UpDownSearch {
 public:
  explicit UpDownSearch(const UpDownGraph& graph)
      : graph_(graph), length_(graph.order().size()), descent_(graph.order().size()) {}

  void find(SwitchIdx destination, NextHops& hops);

 private:
  const UpDownGraph& graph_;
  std::vector<SwitchIdx> near_to_far_;
  std::vector<SwitchIdx> climbers_;  // upmost first
  IndexVector<SwitchIdx, std::uint32_t> length_;
  IndexVector<SwitchIdx, std::uint32_t> descent_;  // kUnreached: no all-down path
};

}  // namespace smd

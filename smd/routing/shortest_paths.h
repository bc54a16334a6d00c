// Next hops of all shortest paths to one destination switch.
#pragma once

#include <vector>

#include "smd/routing/spread.h"

namespace smd {

class ShortestSearch {
 public:
  explicit ShortestSearch(const SwitchGraph& graph) : graph_(graph) {}

  void find(SwitchIdx destination, NextHops& hops);

  /// Links from `sw` to the destination of the last find(); kUnreached on other islands.
  [[nodiscard]] std::uint32_t distance(SwitchIdx sw) const { return distance_[sw]; }

 private:
  const SwitchGraph& graph_;
  std::vector<SwitchIdx> near_to_far_;
  IndexVector<SwitchIdx, std::uint32_t> distance_;
};

}  // namespace smd

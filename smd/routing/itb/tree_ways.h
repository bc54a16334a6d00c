// Which next hops the in-trees of itb-vl may take.
#pragma once

#include <span>
#include <vector>

#include "smd/routing/balance/switch_trees.h"
#include "smd/routing/itb/turn_rule.h"
#include "smd/routing/shortest_paths.h"
#include "smd/routing/up_down.h"

namespace smd {

class TreeWays {
 public:
  enum class Kind : std::uint8_t {
    Shortest,   // any shortest path
    LeastCuts,  // of these from every switch those with fewest turns from down to up
    Legal,      // up*/down*, not always shortest
  };

  TreeWays(const SwitchGraph& graph, const UpDownGraph& oriented, const UpDownRule& rule);

  void find(Kind kind, SwitchIdx destination, NextHops& hops);

 private:
  void keep_least_cuts(SwitchIdx destination, NextHops& hops);

  const SwitchGraph& graph_;
  const UpDownRule& rule_;
  ShortestSearch shortest_;
  UpDownSearch legal_;

  // By switch, towards the destination at hand.
  IndexVector<SwitchIdx, std::uint32_t> cuts_;
  IndexVector<SwitchIdx, char> goes_up_;
  NextHops kept_;
};

/// Leaves every switch only those ways that `others` take least: another tree where there is one.
void keep_fresh(std::span<const SwitchTrees> others, SwitchIdx destination, NextHops& hops);

}  // namespace smd

// The in-trees of itb-vl: which next hops they may take, and rebalancing them after a change.
#pragma once

#include <span>
#include <vector>

#include "smd/routing/graph/switch_graph.h"
#include "smd/routing/itb_vl/sl_tables.h"
#include "smd/routing/tables.h"
#include "smd/routing/trees/route_trees.h"
#include "smd/routing/trees/tree_balance.h"
#include "smd/routing/updn/up_down.h"

namespace smd {

// Which next hops the in-trees of itb-vl may take.

class AllowedNextHops {
 public:
  enum class Kind : std::uint8_t {
    Shortest,   // any shortest path
    LeastCuts,  // of these from every switch those with fewest turns from down to up
    Legal,      // up*/down*, not always shortest
  };

  AllowedNextHops(const SwitchGraph& graph, const UpDownGraph& oriented, const UpDownRule& rule);

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
  NextHops best_;
};

/// Leaves every switch only those next hops that `others` take least: another tree where there is
/// one.
void keep_fresh(std::span<const SwitchTrees> others, SwitchIdx destination, NextHops& hops);

// Evens what a change leaves uneven in the in-trees of switches.

/// Takes paths off the fullest channels. `changed` (destination-major, as SwitchTrees): next hops
/// that were not in force; they move as long as that helps, others only until no channel carries
/// more than one did from scratch, as `before` says. Returns what to hand on. Requires: every next
/// hop is part of a shortest path. `balance` has filled the trees; it is not told.
Imbalance rebalance_switch_trees(const SwitchGraph& graph,
                                 const Demand& demand,
                                 const std::vector<std::uint32_t>& costs,
                                 const TreeBalance& balance,
                                 const std::vector<char>& changed,
                                 const Imbalance& before,
                                 SwitchTrees& trees);

}  // namespace smd

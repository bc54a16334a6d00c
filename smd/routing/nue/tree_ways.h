// A tree of routes, widened by every other way that is as short and whose turns are free on the
// lane: what hosts of one switch, and LIDs of one host, are spread over.
#pragma once

#include <cstdint>
#include <vector>

#include "smd/routing/nue/tree_growth.h"
#include "smd/routing/spread.h"

namespace smd {

class TreeWays {
 public:
  explicit TreeWays(const Channels& channels);

  /// Fills `hops` with the ways of the tree alone.
  void list(const GrownTree& tree, NextHops& hops);

  /// As list(), with the further ways, whose turns it lets into the set. Ensures: a route may take
  /// any listed way at every switch.
  /// With `load`, by channel, only where no link of the further way carries more than the fullest
  /// of the tree's.
  void widen(const GrownTree& tree,
             TurnSet& turns,
             NextHops& hops,
             const std::vector<std::uint64_t>* load = nullptr);

 private:
  [[nodiscard]] bool may_take(TurnSet& turns, Channel way);
  void write(const GrownTree& tree, NextHops& hops) const;

  using Rows = std::vector<std::uint64_t>;  // by switch

  const Channels& channels_;
  Rows ways_;   // out of a switch, by slot
  Rows comes_;  // over the tree into a switch: slots of the ways back
  IndexVector<SwitchIdx, std::uint64_t> fullest_;  // load of a link on the way over the tree
};

}  // namespace smd

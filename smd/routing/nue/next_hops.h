// A tree of routes, widened by every other next hop that is as short and whose turns are free on
// the layer: what hosts of one switch, and LIDs of one host, are spread over.
#pragma once

#include <cstdint>
#include <vector>

#include "smd/routing/nue/tree_growth.h"
#include "smd/routing/trees/load_balancer.h"

namespace smd {

class LayerNextHops {
 public:
  explicit LayerNextHops(const Channels& channels);

  /// Fills `hops` with the next hops of the tree alone.
  void list(const GrownTree& tree, NextHops& hops);

  /// As list(), with the further next hops, whose turns it lets into the set. Ensures: a route may
  /// take any listed next hop at every switch. With `load`, by channel, only where no link of the
  /// further path carries more than the fullest of the tree's.
  void widen(const GrownTree& tree,
             TurnSet& turns,
             NextHops& hops,
             const std::vector<std::uint64_t>* load = nullptr);

 private:
  [[nodiscard]] bool may_take(TurnSet& turns, Channel channel);
  void write(const GrownTree& tree, NextHops& hops) const;

  using SlotMasks = std::vector<std::uint64_t>;  // by switch

  const Channels& channels_;
  SlotMasks out_;   // out of a switch, by slot
  SlotMasks back_;  // over the tree into a switch: slots of the channels back
  IndexVector<SwitchIdx, std::uint64_t> fullest_;  // load of a link on the path over the tree
};

}  // namespace smd

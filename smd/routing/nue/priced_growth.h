// Routes to one destination switch as a tree of least price (Dijkstra), grown outwards from it like
// those of TreeGrowth: every turn is in the set, or is let in because it closes no cycle.
#pragma once

#include <cstdint>
#include <vector>

#include "smd/routing/nue/tree_growth.h"

namespace smd {

class PricedGrowth {
 public:
  explicit PricedGrowth(const Channels& channels);

  /// `price` by channel, more than 0; no path may cost 2^32 or more. May leave out switches that no
  /// free turn leads from. Requires: nobody has turns in the set that are neither kept nor taken
  /// back.
  void grow(TurnSet& turns, SwitchIdx destination, const std::vector<std::uint32_t>& price);

  /// Its order is by price: whoever hands over to another stands behind that one.
  [[nodiscard]] const GrownTree& tree() const { return tree_; }

 private:
  void attach(SwitchIdx sw, Channel exit);
  void offer(SwitchIdx sw, Channel way);
  void offer_to_all(const TurnSet& turns, SwitchIdx near);
  void look_again(const TurnSet& turns, SwitchIdx sw);

  const Channels& channels_;
  const std::vector<std::uint32_t>* price_ = nullptr;
  GrownTree tree_;
  IndexVector<SwitchIdx, std::uint32_t> cost_;  // the least so far; final in the tree
  IndexVector<SwitchIdx, Channel> way_;         // that costs it
  std::vector<std::uint64_t> due_;              // a heap of costs, each with its channel below
};

}  // namespace smd

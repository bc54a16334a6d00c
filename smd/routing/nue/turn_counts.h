// How many trees take each turn of a lane, so that a turn nobody takes any more can leave.
#pragma once

#include <cstdint>
#include <vector>

#include "smd/routing/nue/tree_growth.h"

namespace smd {

class TurnCounts {
 public:
  explicit TurnCounts(const Channels& channels);

  void add(const GrownTree& tree);

  /// Takes the turns that no other tree takes out of the set. Requires: the tree was added.
  void remove(const GrownTree& tree, TurnSet& turns);

  [[nodiscard]] bool is_taken(Channel in, Channel out) const { return counts_[at(in, out)] != 0; }

 private:
  [[nodiscard]] std::size_t at(Channel in, Channel out) const {
    return first_[out] + channels_->slot(channels_->reverse[in]);
  }

  const Channels* channels_;
  std::vector<std::size_t> first_;     // by out channel
  std::vector<std::uint16_t> counts_;  // trees are fewer than LIDs
};

}  // namespace smd

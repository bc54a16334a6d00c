// A spanning tree of every island: the way that is always free. All turns between its channels
// together close no cycle, so a lane that lets them in first can serve any destination.
#pragma once

#include <vector>

#include "smd/routing/nue/channels.h"

namespace smd {

class EscapeTree {
 public:
  /// Breadth-first from each root. Requires: one root per island.
  EscapeTree(const Channels& channels, const std::vector<SwitchIdx>& roots);

  /// Channels from the leaves up to the roots and down again, each island's links outside its tree
  /// taken likewise: every turn of the tree agrees with this order.
  [[nodiscard]] std::vector<Channel> list_channels() const;

  /// Every turn that some route along the tree takes.
  [[nodiscard]] std::vector<std::pair<Channel, Channel>> list_turns() const;

  /// Sets what exit() answers.
  void aim_at(SwitchIdx destination);

  /// The first channel from `sw` to the destination. Requires: they differ, and share an island.
  [[nodiscard]] Channel exit(SwitchIdx sw) const {
    return down_[sw] != kNoChannel ? down_[sw] : up_[sw];
  }

 private:
  const Channels* channels_;
  std::vector<SwitchIdx> order_;          // near to far, island by island
  IndexVector<SwitchIdx, Channel> up_;    // to the parent; kNoChannel at roots
  IndexVector<SwitchIdx, Channel> down_;  // to the child that the destination is below
  std::vector<SwitchIdx> above_;          // switches with a way down
};

}  // namespace smd

// Routes to one destination switch as a tree, grown outwards from it: every switch takes a way to
// one that is in the tree already, if the turn at that one's end is free on the lane.
#pragma once

#include <cstdint>
#include <vector>

#include "smd/routing/nue/turn_set.h"

namespace smd {

struct GrownTree {
  IndexVector<SwitchIdx, Channel> exit;  // kNoChannel at the destination and outside the tree
  IndexVector<SwitchIdx, std::uint32_t> depth;  // kUnreached outside the tree
  std::vector<SwitchIdx> order;                 // near to far, the destination first
};

struct GrowthRules {
  bool shortest = false;  // no tree rather than one with a longer way than the graph allows
  bool fitting = false;   // new turns only where they agree with the order of the set: fast
  bool even = false;      // a turn that fits is as good as one in the set: the load decides
};

class TreeGrowth {
 public:
  explicit TreeGrowth(const Channels& channels);

  /// Switches whose way is settled beforehand; their turns are in the set. Requires: the way leads
  /// to the destination or another such switch, one step nearer.
  void settle(SwitchIdx sw, Channel exit, std::uint32_t depth);

  void forget_settled() { settled_.clear(); }

  /// Lets every turn of the tree into the set. Of equally near switches one whose turn is in the
  /// set comes first, then one whose turn fits, then the way with the smaller load. False, and the
  /// tree of no use, when it is not the shortest and has to be. Otherwise it may leave out switches
  /// that no free turn leads from.
  bool grow(TurnSet& turns,
            SwitchIdx destination,
            const std::vector<std::uint64_t>& load,
            const GrowthRules& rules);

  [[nodiscard]] const GrownTree& tree() const { return tree_; }

 private:
  struct Settled {
    SwitchIdx sw;
    Channel exit;
    std::uint32_t depth;
  };

  bool attach(TurnSet& turns,
              SwitchIdx sw,
              std::uint32_t depth,
              const std::vector<std::uint64_t>& load,
              const GrowthRules& rules);

  const Channels& channels_;
  GrownTree tree_;
  std::vector<Settled> settled_;

  // Scratch.
  std::vector<SwitchIdx> next_;
  IndexVector<SwitchIdx, std::uint32_t> seen_;
  std::uint32_t round_ = 0;
  std::vector<Channel> choices_;
};

}  // namespace smd

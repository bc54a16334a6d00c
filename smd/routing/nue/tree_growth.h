// Routes to one destination grown as trees under turn restrictions, and the escape paths that
// always remain (Domke, Hoefler and Matsuoka, 2016); what else is as short as a tree.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "smd/routing/graph/channels.h"
#include "smd/routing/graph/switch_graph.h"
#include "smd/routing/nue/turn_set.h"

namespace smd {

// A spanning tree of every island: the path that is always free. All turns between its channels
// together close no cycle, so a layer that lets them in first can serve any destination.

class EscapeTree {
 public:
  /// Breadth-first from each root. Requires: one root per island.
  EscapeTree(const Channels& channels, const std::vector<SwitchIdx>& roots);

  /// The same over these links alone, either channel of each. Requires: they span every island.
  EscapeTree(const Channels& channels,
             const std::vector<SwitchIdx>& roots,
             std::span<const Channel> links);

  /// Channels from the leaves up to the roots and down again, each island's links outside its tree
  /// taken likewise: every turn of the tree agrees with this order.
  [[nodiscard]] std::vector<Channel> list_channels() const;

  /// Of every link in the tree the channel that leads up.
  [[nodiscard]] std::vector<Channel> list_links() const;

  /// Every turn that some route along the tree takes.
  [[nodiscard]] std::vector<std::pair<Channel, Channel>> list_turns() const;

  /// Sets what egress() answers.
  void aim_at(SwitchIdx destination);

  /// The first channel from `sw` to the destination. Requires: they differ, and share an island.
  [[nodiscard]] Channel egress(SwitchIdx sw) const {
    return down_[sw] != kNoChannel ? down_[sw] : up_[sw];
  }

 private:
  void grow(const std::vector<char>* links);

  const Channels* channels_;
  std::vector<SwitchIdx> order_;          // near to far, island by island
  IndexVector<SwitchIdx, Channel> up_;    // to the parent; kNoChannel at roots
  IndexVector<SwitchIdx, Channel> down_;  // to the child that the destination is below
  std::vector<SwitchIdx> above_;          // switches with a path down
};

/// Links of a spanning tree of every island that goes beside all turns of a layer, `kept` among
/// them as far as they are a part of one. Its turns are in the set then, and kept. Nothing, and the
/// set as it was, where no link joins two parts of an island without closing a cycle. With
/// `without` that link is none of them. Requires: nobody has turns in the set that are neither kept
/// nor taken back.
[[nodiscard]] std::optional<std::vector<Channel>> find_escape_links(const Channels& channels,
                                                                    TurnSet& turns,
                                                                    std::span<const Channel> kept,
                                                                    Channel without = kNoChannel);

/// The channels of a shortest path whose turns are in the set or agree with its order; where there
/// is none, of one whose turns close no cycle, each for itself; else none. It may pass a switch
/// twice. A switch with a channel in `taken` is left by that one. Leaves the set as it is, but for
/// its order. `steps`: turns that may still be looked at, one for which a cycle is searched
/// counting for some, counted down; with none left there is no path. Requires: as above.
[[nodiscard]] std::vector<Channel> find_free_path(const Channels& channels,
                                                  TurnSet& turns,
                                                  SwitchIdx start,
                                                  SwitchIdx destination,
                                                  const IndexVector<SwitchIdx, Channel>& taken,
                                                  std::size_t& steps);

// Routes to one destination switch as a tree, grown outwards from it: every switch takes a channel
// to one that is in the tree already, if the turn at that one's end is free on the layer.

struct GrownTree {
  IndexVector<SwitchIdx, Channel> egress;  // kNoChannel at the destination and outside the tree
  IndexVector<SwitchIdx, std::uint32_t> depth;  // kUnreached outside the tree
  std::vector<SwitchIdx> order;                 // near to far, the destination first
};

struct GrowthRules {
  bool shortest = false;  // no tree rather than one with a longer path than the graph allows
  bool fitting = false;   // new turns only where they agree with the order of the set: fast
  bool even = false;      // a turn that fits is as good as one in the set: the load decides
};

class TreeGrowth {
 public:
  explicit TreeGrowth(const Channels& channels);

  /// Switches whose channel is settled beforehand; their turns are in the set. Requires, for
  /// grow(): the channel leads to the destination or another such switch, one step nearer.
  void settle(SwitchIdx sw, Channel egress, std::uint32_t depth);

  void forget_settled() { settled_.clear(); }

  /// Lets every turn of the tree into the set. Of equally near switches one whose turn is in the
  /// set comes first, then one whose turn fits, then the channel with the smaller load. False, and
  /// the tree of no use, when it is not the shortest and has to be. Otherwise it may leave out
  /// switches that no free turn leads from.
  bool grow(TurnSet& turns,
            SwitchIdx destination,
            const std::vector<std::uint64_t>& load,
            const GrowthRules& rules);

  /// As grow() without rules, of a tree that is there but for some switches. Afterwards its order
  /// holds those alone. False when some switch finds no free turn. Requires: every neighbour of a
  /// missing switch is missing itself, settled, the destination, or in no tree.
  bool complete(TurnSet& turns,
                SwitchIdx destination,
                const std::vector<std::uint64_t>& load,
                std::span<const SwitchIdx> missing);

  [[nodiscard]] const GrownTree& tree() const { return tree_; }

 private:
  struct Settled {
    SwitchIdx sw;
    Channel egress;
    std::uint32_t depth;
  };

  void forget_tree();
  bool attach(TurnSet& turns,
              SwitchIdx sw,
              std::uint32_t depth,
              const std::vector<std::uint64_t>& load,
              const GrowthRules& rules);

  const Channels& channels_;
  GrownTree tree_;
  std::vector<SwitchIdx> in_tree_;  // after complete(): who may be; empty: everybody
  std::vector<Settled> settled_;

  // Scratch.
  std::vector<SwitchIdx> next_;
  IndexVector<SwitchIdx, std::uint32_t> seen_;
  std::uint32_t round_ = 0;
  std::vector<Channel> choices_;
  std::vector<std::pair<std::uint32_t, SwitchIdx>> due_;  // a heap: depth to be attached at
  IndexVector<SwitchIdx, std::uint32_t> due_at_;          // the least of these
};

// Routes to one destination switch as a tree of least price (Dijkstra), grown outwards from it like
// those of TreeGrowth: every turn is in the set, or is let in because it closes no cycle.

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
  void attach(SwitchIdx sw, Channel egress);
  void offer(SwitchIdx sw, Channel channel);
  void offer_to_all(const TurnSet& turns, SwitchIdx near);
  void look_again(const TurnSet& turns, SwitchIdx sw);

  const Channels& channels_;
  const std::vector<std::uint32_t>* price_ = nullptr;
  GrownTree tree_;
  IndexVector<SwitchIdx, std::uint32_t> cost_;  // the least so far; final in the tree
  IndexVector<SwitchIdx, Channel> offered_;     // that costs it
  std::vector<std::uint64_t> due_;              // a heap of costs, each with its channel below
};

// A tree of routes, widened by every other next hop that is as short and whose turns are free on
// the layer: what hosts of one switch, and LIDs of one host, are spread over.

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

// What nue, and whoever leads paths of switches apart, knows of tables, so that a change costs only
// what it moves: how many LIDs take each turn of a layer, an order of the channels that all of
// these turns agree with, and the paths on every channel. Carried from tables to tables.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "smd/routing/engine.h"
#include "smd/routing/graph/channels.h"
#include "smd/routing/nue/tree_growth.h"
#include "smd/routing/nue/turn_set.h"
#include "smd/routing/tables.h"

namespace smd {

/// The channels of one snapshot among those of the next one: the same ports of the same switches.
struct ChannelMap {
  /// `before`: where each switch of `now` stood; kNone: it was not there.
  ChannelMap(const SwitchGraph& graph_before,
             const SwitchGraph& graph_now,
             const IndexVector<SwitchIdx, SwitchIdx>& before);

  /// Some channels are new.
  [[nodiscard]] bool has_new() const {
    return std::ranges::find(before, kNoChannel) != before.end();
  }

  std::vector<Channel> now;     // by channel before; kNoChannel: went
  std::vector<Channel> before;  // by channel now; kNoChannel: came
};

/// An order that turns of channels that stay agree with as they did in the one `before`: who is new
/// stands behind whom it stands behind in `usual`, an order of all that there are now, which may be
/// empty where nobody is.
[[nodiscard]] std::vector<Channel> carry_order(std::span<const Channel> before,
                                               const ChannelMap& map,
                                               std::span<const Channel> usual);

// How many trees take each turn of a layer, so that a turn nobody takes any more can leave.

class TreeTurns {
 public:
  /// `channels` outlives it.
  explicit TreeTurns(const Channels& channels);

  /// Of those in `before` the turns between channels that there still are.
  TreeTurns(const Channels& channels, const TreeTurns& before, const ChannelMap& map);

  void add(const GrownTree& tree);

  /// Takes the turns that no other tree takes out of the set. Requires: the tree was added.
  void remove(const GrownTree& tree, TurnSet& turns);

  void add(Channel in, Channel out) {
    if (counts_[at(in, out)]++ == 0) masks_.set(*channels_, in, out);
  }

  void remove(Channel in, Channel out) {
    if (--counts_[at(in, out)] == 0) masks_.clear(*channels_, in, out);
  }

  [[nodiscard]] std::uint16_t count(Channel in, Channel out) const { return counts_[at(in, out)]; }

  [[nodiscard]] bool is_taken(Channel in, Channel out) const { return count(in, out) != 0; }

  /// Every turn that is taken goes into the set. False when they close a cycle.
  [[nodiscard]] bool fill(TurnSet& turns) const;

  /// A set of all that are taken. Requires: they agree with `order`.
  [[nodiscard]] TurnSet list(const std::vector<Channel>& order) const {
    return {*channels_, order, masks_};
  }

 private:
  /// Of a switch, by its channels.
  void mark_taken(Channel first, Channel end);

  [[nodiscard]] std::size_t at(Channel in, Channel out) const {
    return first_[out] + channels_->slot(channels_->reverse[in]);
  }

  const Channels* channels_;
  std::vector<std::size_t> first_;     // by out channel
  std::vector<std::uint16_t> counts_;  // trees are fewer than LIDs
  TurnMasks masks_;                    // of those that are not 0
};

/// By switch and port: the channel; kNoChannel where no other switch is.
class ChannelsByPort {
 public:
  explicit ChannelsByPort(const SwitchGraph& graph);

  [[nodiscard]] Channel operator()(SwitchIdx sw, PortNum port) const {
    return by_port_[sw.value() * std::size_t{256} + port.value()];
  }

 private:
  std::vector<Channel> by_port_;  // 256 per switch
};

/// A LID, and whom it leads to.
struct TargetLid {
  Lid lid;
  SwitchIdx last;  // kNone, in a record: it is away
  PortNum egress;
  std::uint32_t demand = 0;  // 0: a switch, or nothing that counts
  std::uint8_t layer = 0;
};

/// Ascending; all on layer 0.
[[nodiscard]] std::vector<TargetLid> list_served_lids(const Targets& targets);

/// With those that nobody has and that the tables in force still lead to, see add_orphaned_lids():
/// they have no demand.
[[nodiscard]] std::vector<TargetLid> list_kept_lids(const Fabric& fabric,
                                                    const LidMap& lids,
                                                    const Targets& targets,
                                                    const PreviousRoutes& in_force);

/// At any switch.
[[nodiscard]] bool has_entries(const ForwardingTables& tables, Lid lid);

struct TurnRecord {
  struct Layer {
    std::vector<Channel> order;      // every turn leads onwards in it
    std::optional<TreeTurns> taken;  // by LIDs; nothing: to be counted
    std::vector<Channel> escape;     // EscapeTree::list_links(), for the next change; or none
  };

  /// Made for these routes, not for some that were altered since; `graph`: of their fabric.
  [[nodiscard]] bool is_of(const PreviousRoutes& routes, const SwitchGraph& graph) const;

  /// The turns that the LIDs of each layer take.
  [[nodiscard]] std::vector<TreeTurns> count_turns() const;

  /// Whether layers have room for what a loss asks of them: on each, of a sample of the links of
  /// its escape tree most have another one that could take their place.
  [[nodiscard]] bool leaves_room() const;

  // Of the fabric then. Positions in `graph` are channels.
  SwitchGraph graph;
  std::shared_ptr<const Channels> channels;
  IndexVector<SwitchIdx, std::uint32_t> hosts;  // paths that begin at each switch

  ForwardingTables tables;  // shares its rows with the routes: what else it says is true of them
  std::vector<TargetLid> served;  // ascending; those that nobody has and that keep entries as well
  std::vector<Layer> layers;
  std::vector<std::uint64_t> paths;  // by channel, by the demand of their LIDs
};

}  // namespace smd

// Plans nue routes from scratch: which layer carries the routes to each destination switch, and by
// which tree.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "smd/routing/graph/switch_graph.h"
#include "smd/routing/nue/tree_growth.h"
#include "smd/routing/nue/turn_record.h"
#include "smd/routing/nue/turn_set.h"

namespace smd {

// Destinations by neighbourhood: routes to switches near each other take much the same turns, so
// they get along on one layer.

/// Parts of as equal a size as can be, each of switches near to each other, the one in their midst
/// first and the others by their distance from it. Parts beyond the number of switches are empty.
/// Requires: the switches are of one island.
[[nodiscard]] std::vector<std::vector<SwitchIdx>> split_by_locality(const SwitchGraph& graph,
                                                                    std::vector<SwitchIdx> switches,
                                                                    std::size_t parts);

// Which layer carries the routes to each destination switch, and by which tree.

class NuePlanner {
 public:
  /// All outlive it. `costs` by channel, see find_link_costs().
  NuePlanner(const SwitchGraph& graph,
             const Channels& channels,
             const Targets& targets,
             const std::vector<std::uint32_t>& costs);

  /// A tree to every switch with LIDs, on at most so many layers. With `shortest` it is false, and
  /// there is no plan, as soon as a switch with hosts has no tree of shortest routes on the layer
  /// of its neighbourhood. Requires: layers >= 1.
  bool plan(unsigned layers, bool shortest);

  /// As plan(1, false), but destinations so many switches apart follow each other: neighbours,
  /// which want the same turns, do not. False, and there is no plan, as soon as there are more
  /// links than `most`, see count_links(). Requires: stride >= 1.
  bool plan_in_strides(std::size_t stride, std::uint64_t most);

  /// Takes out trees with detours, the first planned first, and grows them again where they get
  /// shorter; no more when that succeeds too seldom. Requires: a plan.
  void polish();

  /// Grows every tree again where that makes loads even enough for the links it costs, or saves
  /// links. Requires: a plan.
  void rebalance();

  [[nodiscard]] bool is_rebalanced() const { return !price_.empty(); }

  /// Of all paths between hosts together.
  [[nodiscard]] std::uint64_t count_links() const { return links_; }

  /// What channels carry: paths, by their demand and cost.
  [[nodiscard]] const std::vector<std::uint64_t>& load() const { return load_; }

  /// Destinations in the order in which they were planned.
  [[nodiscard]] const std::vector<SwitchIdx>& planned() const { return planned_; }

  [[nodiscard]] std::size_t layer_count() const { return layers_.size(); }

  [[nodiscard]] unsigned layer(SwitchIdx destination) const { return layer_of_[destination]; }

  [[nodiscard]] TurnSet& turns(SwitchIdx destination) {
    return layers_[layer_of_[destination]].turns;
  }

  /// Of one layer: an order of the channels that all of its turns agree with.
  [[nodiscard]] std::vector<Channel> list_channels(std::size_t layer) const {
    return layers_[layer].turns.list_channels();
  }

  /// Of one layer, see EscapeTree::list_links().
  [[nodiscard]] std::vector<Channel> list_escape_links(std::size_t layer) const {
    return layers_[layer].escape.list_links();
  }

  /// The planned tree. Requires: planned.
  void read(SwitchIdx destination, GrownTree& tree) const;

 private:
  struct Layer {
    TurnSet turns;
    EscapeTree escape;
    TreeTurns counts;
  };

  /// Destinations without hosts carry no traffic that counts.
  struct Homes {
    std::vector<std::vector<SwitchIdx>> by_layer;
    std::vector<SwitchIdx> without_hosts;
  };

  /// Makes the layers, empty but for the escape routes.
  Homes begin(unsigned layers);
  bool plan(const Homes& homes, bool shortest, std::uint64_t most_links);
  bool plan_shortest(SwitchIdx destination, unsigned layer);
  void plan_least_detour(SwitchIdx destination);
  void complete(SwitchIdx destination, Layer& layer);
  void settle_along(const EscapeTree& escape, SwitchIdx sw);

  void accept(SwitchIdx destination, unsigned layer) { accept(destination, layer, growth_.tree()); }

  void accept(SwitchIdx destination, unsigned layer, const GrownTree& tree);

  void rebalance(SwitchIdx destination);
  void read_unordered(SwitchIdx destination, GrownTree& tree) const;
  bool reroute(SwitchIdx destination);
  void remove(SwitchIdx destination, const GrownTree& tree);
  void put_back(SwitchIdx destination, const GrownTree& tree);
  void change_load(const GrownTree& tree, SwitchIdx destination, bool add);
  [[nodiscard]] std::uint64_t count_detours() const;
  [[nodiscard]] std::uint64_t measure_detours(
      const IndexVector<SwitchIdx, std::uint32_t>& least) const;

  const SwitchGraph& graph_;
  const Channels& channels_;
  const Targets& targets_;
  const std::vector<std::uint32_t>& costs_;
  IndexVector<SwitchIdx, std::uint64_t> drawn_;  // by all hosts at a switch
  std::vector<std::vector<SwitchIdx>> islands_;
  IndexVector<SwitchIdx, std::uint32_t> island_of_;

  std::vector<Layer> layers_;
  std::vector<SwitchIdx> planned_;
  IndexVector<SwitchIdx, std::size_t> row_of_;  // place in planned_
  IndexVector<SwitchIdx, std::uint8_t> layer_of_;
  std::vector<std::uint8_t> slots_;                // of the channel out, destination-major
  std::vector<std::uint64_t> load_;                // by channel: paths, by their demand and cost
  std::uint64_t links_ = 0;                        // of all paths together
  IndexVector<SwitchIdx, std::uint64_t> detours_;  // links above the least, over its paths

  bool even_ = false;                      // see GrowthRules
  double unit_load_ = 1, unit_links_ = 1;  // of a channel on average, before rebalance()

  // Scratch.
  GrownTree old_;
  TreeGrowth growth_;
  PricedGrowth priced_;
  std::vector<std::uint32_t> price_;               // by channel; none before rebalance()
  IndexVector<SwitchIdx, std::uint32_t> settled_;  // depth
  std::vector<SwitchIdx> walk_;
  IndexVector<SwitchIdx, std::uint64_t> flow_;
};

// Routes where there is one layer for all destinations.

/// Shortest routes where they go together. Else, of plans with destinations in different orders,
/// the one with fewest links, rebalanced. All arguments outlive it.
[[nodiscard]] std::unique_ptr<NuePlanner> plan_single_layer(
    const SwitchGraph& graph,
    const Channels& channels,
    const Targets& targets,
    const std::vector<std::uint32_t>& costs);

}  // namespace smd

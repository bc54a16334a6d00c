// Which lane carries the routes to each destination switch, and by which tree.
#pragma once

#include <cstdint>
#include <vector>

#include "smd/routing/nue/escape_tree.h"
#include "smd/routing/nue/priced_growth.h"
#include "smd/routing/nue/tree_growth.h"
#include "smd/routing/nue/turn_counts.h"
#include "smd/routing/nue/turn_set.h"

namespace smd {

class NuePlanner {
 public:
  /// All outlive it. `costs` by channel, see find_link_costs().
  NuePlanner(const SwitchGraph& graph,
             const Channels& channels,
             const Targets& targets,
             const std::vector<std::uint32_t>& costs);

  /// A tree to every switch with LIDs, on at most so many lanes. With `shortest` it is false, and
  /// there is no plan, as soon as a switch with hosts has no tree of shortest routes on the lane of
  /// its neighbourhood. Requires: lanes >= 1.
  bool plan(unsigned lanes, bool shortest);

  /// As plan(1, false), but destinations so many switches apart follow each other: neighbours,
  /// which want the same turns, do not. False, and there is no plan, as soon as there are more
  /// links than `most`, see count_links(). Requires: stride >= 1.
  bool plan_in_strides(std::size_t stride, std::uint64_t most);

  /// Gives up the escape routes that no tree takes. Then takes out trees with detours, the first
  /// planned first, and grows them again where they get shorter; no more when that succeeds too
  /// seldom. Requires: a plan.
  void polish();

  /// Gives up the escape routes that no tree takes. Then grows every tree again where that makes
  /// loads even enough for the links it costs, or saves links. Requires: a plan.
  void relieve();

  [[nodiscard]] bool is_relieved() const { return !price_.empty(); }

  /// Of all paths between hosts together.
  [[nodiscard]] std::uint64_t count_links() const { return links_; }

  /// What channels carry: paths, by what they draw and cost.
  [[nodiscard]] const std::vector<std::uint64_t>& load() const { return load_; }

  /// Destinations in the order in which they were planned.
  [[nodiscard]] const std::vector<SwitchIdx>& planned() const { return planned_; }

  [[nodiscard]] unsigned lane(SwitchIdx destination) const { return lane_of_[destination]; }

  [[nodiscard]] TurnSet& turns(SwitchIdx destination) {
    return lanes_[lane_of_[destination]].turns;
  }

  /// The planned tree. Requires: planned.
  void read(SwitchIdx destination, GrownTree& tree) const;

 private:
  static constexpr std::uint8_t kNoSlot = 255;  // a switch has at most 254 ports

  struct Lane {
    TurnSet turns;
    EscapeTree escape;
    TurnCounts counts;
  };

  /// Destinations without hosts carry no traffic that counts.
  struct Homes {
    std::vector<std::vector<SwitchIdx>> by_lane;
    std::vector<SwitchIdx> without_hosts;
  };

  /// Makes the lanes, empty but for the escape routes.
  Homes begin(unsigned lanes);
  bool plan(const Homes& homes, bool shortest, std::uint64_t most_links);
  bool plan_shortest(SwitchIdx destination, unsigned lane);
  void plan_least_detour(SwitchIdx destination);
  void complete(SwitchIdx destination, Lane& lane);
  void settle_along(const EscapeTree& escape, SwitchIdx sw);

  void accept(SwitchIdx destination, unsigned lane) { accept(destination, lane, growth_.tree()); }

  void accept(SwitchIdx destination, unsigned lane, const GrownTree& tree);

  void give_up_escapes();
  void relieve(SwitchIdx destination);
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

  std::vector<Lane> lanes_;
  std::vector<SwitchIdx> planned_;
  IndexVector<SwitchIdx, std::size_t> row_of_;  // place in planned_
  IndexVector<SwitchIdx, std::uint8_t> lane_of_;
  std::vector<std::uint8_t> slots_;                // of the way out, destination-major
  std::vector<std::uint64_t> load_;                // by channel: paths, by what they draw and cost
  std::uint64_t links_ = 0;                        // of all paths together
  IndexVector<SwitchIdx, std::uint64_t> detours_;  // links above the least, over its paths

  bool even_ = false;                      // see GrowthRules
  double unit_load_ = 1, unit_links_ = 1;  // of a channel on average, before relieve()

  // Scratch.
  GrownTree old_;
  TreeGrowth growth_;
  PricedGrowth priced_;
  std::vector<std::uint32_t> price_;               // by channel; none before relieve()
  IndexVector<SwitchIdx, std::uint32_t> settled_;  // depth
  std::vector<SwitchIdx> walk_;
  IndexVector<SwitchIdx, std::uint64_t> flow_;
};

}  // namespace smd

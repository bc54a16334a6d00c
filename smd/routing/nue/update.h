// New nue tables out of those in force.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "smd/routing/engine.h"
#include "smd/routing/nue/tree_growth.h"
#include "smd/routing/tables.h"

namespace smd {

// The SL of every path where a destination LID has its layer whoever sends.

/// `layer_of` by LID, up to the highest. Says nothing where there is one layer.
void set_layer_sls(std::size_t switches,
                   Lid top,
                   unsigned layers,
                   const std::vector<std::uint8_t>& layer_of,
                   RoutingTables& tables);

// New routes out of those in force: every tree that a change left whole stays, on its layer; of the
// others, what still leads to the destination.

class NueUpdate {
 public:
  NueUpdate(const Fabric& fabric,
            Lid top,
            const SwitchGraph& graph,
            const Channels& channels,
            const Targets& targets,
            const std::vector<std::uint32_t>& costs,
            const PreviousRoutes& in_force);

  /// The tables, layers and `recomputed`. Nullopt: some destination finds no path on any of so many
  /// layers beside the trees that are kept.
  [[nodiscard]] std::optional<RoutingTables> compute(unsigned layers);

 private:
  class Movable;

  struct Wanted {
    Lid lid;
    SwitchIdx last;
    PortNum egress;
    std::uint32_t demand;  // 0: a switch, or nothing that counts
  };

  void list_wanted();
  void copy_entries();
  bool keep(const Wanted& wanted);
  bool repair(const Wanted& wanted);
  bool regrow(const Wanted& wanted, unsigned layer);
  void walk(const Wanted& wanted);
  void count_load(const GrownTree& tree, std::uint32_t demand);

  // Links that came up.
  void use_gained();
  void shorten(const Wanted& wanted, Channel gained);
  void fill(Channel gained);
  void rebalance();
  bool turn(const Wanted& wanted, Channel egress);
  bool move(const Wanted& wanted, Channel egress, bool if_even);
  [[nodiscard]] std::uint32_t depth(SwitchIdx sw, const Wanted& wanted) const;
  [[nodiscard]] std::uint64_t count_paths(SwitchIdx sw, Lid lid) const;
  template <class Visit>
  void follow(SwitchIdx sw, const Wanted& wanted, Visit&& visit) const;
  [[nodiscard]] std::uint8_t previous_layer(const Wanted& wanted) const;

  [[nodiscard]] Channel entry(SwitchIdx sw, Lid lid) const {
    return by_port_[sw.value() * std::size_t{256} + result_.lft.route(sw, lid).value()];
  }

  const SwitchGraph& graph_;
  const Channels& channels_;
  const Targets& targets_;
  const std::vector<std::uint32_t>& costs_;
  const PreviousRoutes& in_force_;

  IndexVector<SwitchIdx, SwitchIdx> before_;  // kNone: was not there
  IndexVector<SwitchIdx, std::uint32_t> island_size_;
  std::vector<Channel> by_port_;     // 256 per switch
  std::vector<Wanted> wanted_;       // ascending by LID
  std::vector<std::uint8_t> layer_;  // by LID

  RoutingTables result_;
  std::vector<TurnSet> turns_;       // by layer
  std::vector<std::uint64_t> load_;  // by channel
  std::vector<Channel> gained_;
  bool relinked_ = false;    // hosts that come and go move nobody else
  std::vector<char> moved_;  // by LID
  TreeGrowth growth_;
  GrownTree tree_;  // what is left of a LID's routes
  std::vector<SwitchIdx> path_;
  IndexVector<SwitchIdx, std::uint64_t> flow_;
};

}  // namespace smd

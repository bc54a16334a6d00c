// New nue tables out of those in force.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "smd/routing/engine.h"
#include "smd/routing/incremental/changes.h"
#include "smd/routing/nue/tree_growth.h"
#include "smd/routing/nue/turn_record.h"
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
// others, what still leads to the destination. Who finds no turn that is free takes the escape tree
// of the layer, and who handed over to him finds another way or takes it, too: so no LID has to
// leave its layer, as long as an escape tree can be had beside the trees that are kept. What
// TurnRecord says of the routes in force is taken
// over, and only LIDs that the change touches are looked at. Where there is no record of them, or
// islands grow together, every entry is read.
//
// A LID that nobody has any more keeps its tree and its layer, so that who comes back finds them:
// on one layer, where the switch is away that served it, as far as entries lead towards it. Its
// turns count, its loads do not. Without `keeps_unowned` all such go.

class NueUpdate {
 public:
  NueUpdate(const Fabric& fabric,
            const LidMap& lids,
            const SwitchGraph& graph,
            std::shared_ptr<const Channels> channels,
            const Targets& targets,
            const std::vector<std::uint32_t>& costs,
            const PreviousRoutes& in_force,
            bool keeps_unowned = true);

  /// The tables, layers, `recomputed` and the record of turns. Nullopt: some destination finds no
  /// path on any of so many layers beside the trees that are kept, or those close a cycle. With
  /// `rebalances`, loads are evened also where no link has changed.
  [[nodiscard]] std::optional<RoutingTables> compute(unsigned layers, bool rebalances);

  /// Of routes from scratch, which nobody follows yet: evens loads, and leaves the escape trees
  /// free.
  [[nodiscard]] std::optional<RoutingTables> even_from_scratch(unsigned layers);

 private:
  class Movable;

  /// Some switches have no path to the LID: those of missing_ from `first` on, or if these are
  /// none, whoever has no entry that leads there.
  struct Broken {
    TargetLid lid;
    std::size_t first = 0, count = 0;
  };

  struct Cell {
    std::uint32_t lid;  // place in wanted_
    SwitchIdx sw;
    friend auto operator<=>(const Cell&, const Cell&) = default;
  };

  /// Of a switch to a LID over a link that came up, beside the way that it takes.
  enum class Distance : std::uint8_t { Farther, AsFar, Nearer };

  // What is known of the routes in force.
  [[nodiscard]] bool carry_over(const TurnRecord& record);
  [[nodiscard]] bool are_islands_split_only(const SwitchGraph& before) const;
  void move_senders(const TurnRecord& record);
  void match_lids(const TurnRecord& record);
  void keep_stranded();
  void forget(const TargetLid& lid, const TurnRecord& record);
  void forget_loads(const TargetLid& lid, const TurnRecord& record);
  void erase_entries(Lid lid);
  [[nodiscard]] std::vector<Cell> list_broken_cells() const;
  void cut_out(const TargetLid& lid, std::span<const Cell> cells, const TurnRecord& record);
  void look_at(const TargetLid& lid);
  void read_all();
  [[nodiscard]] bool fill_turns(const TurnRecord* record);
  void find_escapes(const TurnRecord* record);
  void release_escapes();
  [[nodiscard]] std::shared_ptr<const TurnRecord> make_record();
  [[nodiscard]] std::vector<Lid> list_recomputed() const;
  void choose_layers();
  [[nodiscard]] bool repair_all(const TurnRecord* record);

  void copy_entries();
  bool complete(const Broken& broken);
  bool repair(const TargetLid& wanted);
  void list_missing(const TargetLid& wanted);
  void settle_beside(const TargetLid& wanted);
  void settle_all(const TargetLid& wanted, unsigned layer);
  bool regrow(const TargetLid& wanted, unsigned layer);
  bool regrow_with_escapes(const TargetLid& wanted);
  bool settle_beside_escapes(const TargetLid& wanted, TurnSet& turns);
  bool escape(SwitchIdx start, const TargetLid& wanted, TurnSet& turns);
  void take_grown(const TargetLid& wanted, unsigned layer);
  void walk(const TargetLid& wanted);
  void change_load(const GrownTree& tree, std::uint32_t demand, bool add);
  void follow_before(const TurnRecord& record,
                     SwitchIdx row,
                     const TargetLid& lid,
                     std::uint64_t paths);

  // Links that came up.
  void use_gained();
  void compare_distances(std::span<const Channel> gained);
  void shorten(const TargetLid& wanted, Channel gained);
  void fill(Channel gained, std::span<const Distance> distances);
  void rebalance(bool asked);
  bool turn(const TargetLid& wanted, Channel egress);
  bool move(const TargetLid& wanted, Channel egress, bool if_even);
  [[nodiscard]] std::uint32_t depth(SwitchIdx sw, const TargetLid& wanted) const;
  std::uint32_t depth_again(SwitchIdx sw, const TargetLid& wanted);
  [[nodiscard]] std::uint64_t count_paths(SwitchIdx sw, Lid lid) const;
  [[nodiscard]] std::uint8_t previous_layer(Lid lid) const;

  [[nodiscard]] Channel entry(SwitchIdx sw, Lid lid) const {
    return by_port_(sw, result_.lft.route(sw, lid));
  }

  /// Every link from the switch to the last one.
  template <class Visit>
  void follow(SwitchIdx sw, const TargetLid& wanted, Visit&& visit) const {
    while (sw != wanted.last) {
      const Channel egress = entry(sw, wanted.lid);
      if (egress == kNoChannel) return;
      visit(egress);
      sw = channels_.to[egress];
    }
  }

  const LidMap& lids_;
  const SwitchGraph& graph_;
  const std::shared_ptr<const Channels> shared_channels_;
  const Channels& channels_;
  const Targets& targets_;
  const std::vector<std::uint32_t>& costs_;
  const PreviousRoutes& in_force_;

  const PortChanges changes_;
  const ChannelsByPort by_port_;
  const bool keeps_unowned_;
  IndexVector<SwitchIdx, std::uint32_t> island_of_;
  std::vector<std::uint32_t> island_size_;
  std::vector<SwitchIdx> roots_;      // of escape trees: one for each island
  std::vector<Channel> first_order_;  // along escape trees
  std::vector<TargetLid> wanted_;     // ascending by LID
  std::vector<TargetLid> stranded_;   // likewise; nobody has them, and their switch is away
  std::vector<std::uint8_t> layer_;   // by LID

  RoutingTables result_;
  std::vector<TreeTurns> taken_;  // by layer, by LIDs
  std::vector<TurnSet> turns_;    // by layer; of those that are taken, and were meanwhile
  std::vector<std::optional<EscapeTree>> escapes_;  // by layer
  std::vector<std::uint64_t> load_;                 // by channel
  std::vector<Channel> gained_;
  bool from_scratch_ = false;
  std::size_t escape_steps_ =
      1 << 20;               // turns that may be looked at for ways to escape, of all LIDs
  bool relinked_ = false;    // hosts that come and go move nobody else
  std::vector<char> moved_;  // by LID
  std::vector<Broken> broken_;
  std::vector<SwitchIdx> missing_;

  // While the record in force is taken over.
  std::optional<ChannelMap> map_;
  std::optional<ChannelsByPort> by_port_before_;
  std::vector<char> same_;  // by place in wanted_: served as before

  // Scratch.
  TreeGrowth growth_;
  GrownTree tree_;                            // what is left of a LID's routes
  IndexVector<SwitchIdx, Channel> escaping_;  // egress of who escapes
  std::vector<SwitchIdx> path_, dead_, settled_;
  std::vector<Channel> into_;
  std::vector<std::pair<Channel, Channel>> new_turns_;
  IndexVector<SwitchIdx, std::uint32_t> depth_beside_;  // of settled_; else kUnreached
  std::span<const Channel> compared_;
  std::vector<Distance> distances_;       // by channel of compared_ and place in wanted_
  std::vector<char> is_shortened_;        // by place in wanted_: distances_ may be out of date
  std::vector<std::uint32_t> scattered_;  // places in wanted_, in which fill() takes them
  IndexVector<SwitchIdx, char> is_missing_;
  IndexVector<SwitchIdx, std::uint64_t> flow_;
};

}  // namespace smd

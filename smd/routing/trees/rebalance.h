// Rebalancing after a change: how even loads have to be, and the moves that make them so.
#pragma once

#include <cstdint>
#include <queue>
#include <span>
#include <utility>
#include <vector>

#include "smd/routing/graph/switch_graph.h"
#include "smd/routing/tables.h"
#include "smd/routing/trees/route_trees.h"

namespace smd {

// How even loads have to be after a change.

/// Paths that begin at each switch, and what all trees to each draw.
struct Traffic {
  IndexVector<SwitchIdx, std::uint32_t> sources;
  IndexVector<SwitchIdx, std::uint64_t> demand;
};

/// No routes leave every channel below this: what begins or ends at a switch passes its links,
/// and all paths together, as long as they are, spread over all of them.
/// `load` and `costs` by edge.
[[nodiscard]] std::uint64_t find_least_peak(const SwitchGraph& graph,
                                            const Traffic& traffic,
                                            const std::vector<std::uint32_t>& costs,
                                            std::span<const std::uint64_t> load);

/// Whether some channel carries noticeably more than that, so that rebalancing may pay.
[[nodiscard]] bool is_uneven(const SwitchGraph& graph,
                             const Targets& targets,
                             const std::vector<std::uint32_t>& costs,
                             std::span<const std::uint64_t> load);

[[nodiscard]] Imbalance measure_imbalance(std::span<const std::uint64_t> load);

/// What no channel need go below.
struct LoadTarget {
  std::uint64_t best;    // nothing can be noticeably more even
  std::uint64_t enough;  // as even as routes from scratch, or `best`
};

/// `before`: of the tables in force. It says nothing about a fabric that has more channels now.
[[nodiscard]] LoadTarget find_load_target(std::uint64_t least_peak,
                                          const Imbalance& before,
                                          std::span<const std::uint64_t> load);

/// What to hand on: `before` where that still says something, else as it is now.
[[nodiscard]] Imbalance carry_imbalance(const Imbalance& before,
                                        std::span<const std::uint64_t> load);

// Takes paths off channels that carry too much: switches before them take other paths that are no
// longer, as few switches as will do.

class LoadRebalancer {
 public:
  /// All outlive it. `sources`: paths that begin at each switch. `costs` by edge, see
  /// find_link_costs(). `load` by edge: paths, by their demand and cost; kept up to date.
  LoadRebalancer(const SwitchGraph& graph,
                 const IndexVector<SwitchIdx, std::uint32_t>& sources,
                 const std::vector<std::uint32_t>& costs,
                 std::vector<std::uint64_t>& load,
                 MovableTrees& trees);

  /// Adds what all trees lay over the channels to the loads.
  void count_loads();

  /// Heaviest channels first, entries that have changed anyhow until none carries more than
  /// `aim.best`, then all others until none carries more than `aim.enough`. A switch moves where
  /// that makes loads more even altogether, and leaves every channel of its new path below what the
  /// full one carried. Channels that nothing rebalances stay; one more move is tried for each. The
  /// work is bounded by a count: beyond it the channels that are not so heavy stay, too.
  void run(const LoadTarget& aim);

  /// For routes that nobody follows yet, where it does not matter how many entries move. On large
  /// fabrics, as long as many channels carry more than `limit` and it helps, passes over all trees,
  /// which read each but once; then the heaviest channels first, as in run().
  void run_from_scratch(std::uint64_t limit);

  /// As run() for all entries, and switches that nothing passes are led off full channels before
  /// others are to pass them. For routes that nobody follows yet: such entries move for nothing.
  void run_settling(std::uint64_t limit);

  enum class Which : std::uint8_t { Changed, All };  // entries that may move

  /// Ends after `most_stuck` channels that nothing rebalances.
  void run(std::uint64_t limit, Which which, std::size_t most_stuck = 16);

 private:
  void even(std::uint32_t tree, std::uint64_t limit);
  void lighten(std::uint32_t full, std::uint64_t limit);
  void list_changed();
  [[nodiscard]] bool may_move(std::uint32_t tree, std::uint32_t full) const;
  void read(std::uint32_t tree);
  void begin_reading(std::uint32_t tree);

  /// Reads the tree from there to its root.
  void follow(std::uint32_t start);

  /// Of the tree no more than who passes over `full`, and what those may ask for. False: that would
  /// take about as long as to read it.
  bool read_passing(std::uint32_t tree, std::uint32_t full);
  void settle_idle(std::uint32_t tree);
  void rebalance_tree(std::uint32_t tree, std::uint32_t full, std::uint64_t limit);

  /// Moves paths to a channel that then carries as much, and from there on.
  bool pass_on(std::uint32_t full);
  bool pass_on(std::uint32_t full, std::uint32_t tree, SwitchIdx sw, std::uint32_t edge);

  void mark_passing(std::uint32_t full);
  [[nodiscard]] bool is_alternative(std::uint32_t sw, std::uint32_t edge) const;

  /// What the heaviest channel of the path over `edge` would carry; less than `bound`, or kNever.
  [[nodiscard]] std::uint64_t find_peak(SwitchIdx sw,
                                        std::uint32_t edge,
                                        std::uint64_t paths,
                                        std::uint64_t bound) const;

  /// Into `candidates_`: those that leave every channel below `bound`, the evenest first.
  void list_candidates(SwitchIdx sw, std::uint64_t paths, std::uint64_t bound);

  /// The sum of the squares of all loads would be smaller over `edge`.
  [[nodiscard]] bool evens_loads(SwitchIdx sw, std::uint32_t edge, std::uint64_t paths) const;
  void move(SwitchIdx sw, std::uint32_t edge, std::uint32_t demand);

  // How far a switch's path over another edge, and its present one, have been followed.
  struct Fork {
    std::uint32_t on_new, on_old;  // switches

    [[nodiscard]] bool met() const { return on_new == on_old; }
  };

  struct Step {
    std::uint32_t edge;
    bool is_new;
  };

  [[nodiscard]] Fork begin_fork(SwitchIdx sw, std::uint32_t edge) const;
  [[nodiscard]] Step advance(Fork& fork) const;

  static constexpr std::uint64_t kNever = ~std::uint64_t{0};
  static constexpr std::uint32_t kDead = kUnreached - 1;

  const SwitchGraph& graph_;
  const IndexVector<SwitchIdx, std::uint32_t>& sources_;
  const std::vector<std::uint32_t>& costs_;
  std::vector<std::uint64_t>& load_;
  MovableTrees& trees_;
  std::vector<std::uint32_t> from_;  // by edge: the switch it leaves
  Which which_ = Which::All;
  std::vector<std::uint32_t> movable_;  // trees that count and that this run may change
  std::vector<SwitchIdx> changed_;      // of a run for these: who may have changed; empty: many

  std::priority_queue<std::pair<std::uint64_t, std::uint32_t>> full_;  // load, ~edge

  // Of one tree, by switch; of those that were read.
  std::uint32_t tree_ = 0;
  std::uint32_t reading_ = 0;
  std::vector<std::uint32_t> read_;   // the reading that met the switch
  std::vector<std::uint32_t> next_;   // kNoEdge: the root, or not in it
  std::vector<std::uint32_t> depth_;  // kDead: not in it
  std::vector<std::uint64_t> flow_;   // paths that pass it
  std::vector<std::uint32_t> near_to_far_;
  std::vector<char> passes_;                // over the channel that is too full
  std::vector<std::uint64_t> peak_on_way_;  // the fullest channel from there to the root

  std::vector<std::uint32_t> path_;
  std::vector<std::pair<std::uint64_t, std::uint32_t>> candidates_;  // highest load on it, edge
  std::uint64_t limit_ = 0;                                          // of this run
  bool settles_idle_ = false;
  bool only_evening_ = true;   // moves that make the sum of squares smaller
  std::size_t passed_on_ = 0;  // attempts in this run
  std::uint64_t steps_ = 0;
};

}  // namespace smd

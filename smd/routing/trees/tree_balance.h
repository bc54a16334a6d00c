// Makes the load of channels even by moving branches of in-trees: whoever has several equally good
// next hops towards a destination takes, with everything that comes through it, the one that makes
// the sum of squared loads smallest. Routes stay destination-based all the while.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "smd/routing/trees/load_balancer.h"
#include "smd/routing/trees/route_trees.h"

namespace smd {

/// Paths from switch s to switch t count sends[s] · receives[t].
struct Demand {
  IndexVector<SwitchIdx, std::uint32_t> sends;
  IndexVector<SwitchIdx, std::uint32_t> receives;
};

/// By end ports and their demand; without any every switch counts 1.
[[nodiscard]] Demand find_demand(const Targets& targets);

/// What channels carry, over all of them.
struct BalanceReport {
  std::uint64_t max = 0;
  double mean = 0;
  double stddev = 0;  // population

  friend bool operator==(const BalanceReport&, const BalanceReport&) = default;
};

/// "channel load: mean 61.3, standard deviation 8.2 (0.13 of the mean), highest 80".
[[nodiscard]] std::string print_balance(const BalanceReport& load);

class TreeBalance {
 public:
  /// Fills in the next hops to a destination that a tree may take. Whatever is chosen of them must
  /// lead there: shortest paths do, and up*/down* in two phases.
  using FindHops = std::function<void(SwitchIdx destination, NextHops& hops)>;

  /// Edges looked at before improve() gives up: well under a second.
  static constexpr std::uint64_t kBudget = 100'000'000;

  /// `costs` by edge, see find_link_costs(). The graph outlives it.
  TreeBalance(const SwitchGraph& graph, Demand demand, std::vector<std::uint32_t> costs);

  /// Gives every switch without an edge one, destination by destination, farthest switches first:
  /// the one with the smallest load so far. Edges that are set count and stay.
  void fill(const FindHops& find, SwitchTrees& trees);

  /// Moves branches until none of them makes it better, or the budget is spent. With `movable`
  /// (destination-major, as SwitchTrees) only there. Requires: `trees` were filled last.
  void improve(const FindHops& find,
               SwitchTrees& trees,
               const std::vector<char>* movable = nullptr,
               std::uint64_t budget = kBudget);

  [[nodiscard]] BalanceReport measure() const;

  /// By edge: paths, by their demand and cost.
  [[nodiscard]] std::vector<std::uint64_t> loads() const;

 private:
  void sum_flows(SwitchIdx destination, const NextHops& hops, const SwitchTrees& trees);
  bool move_branch(SwitchIdx destination,
                   const NextHops& hops,
                   std::size_t place,
                   SwitchTrees& trees);
  void shift(SwitchIdx from, SwitchIdx destination, const SwitchTrees& trees, std::int64_t paths);

  const SwitchGraph& graph_;
  Demand demand_;
  std::vector<std::uint32_t> cost_;              // by edge
  std::vector<std::int64_t> load_;               // by edge
  IndexVector<SwitchIdx, std::uint32_t> flows_;  // that pass a switch to the destination at hand
  std::uint64_t steps_ = 0;
};

}  // namespace smd

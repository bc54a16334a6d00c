// Balanced in-trees to every LID, and what links cost them.
#pragma once

#include <cstdint>
#include <functional>
#include <string_view>
#include <vector>

#include "smd/routing/graph/switch_graph.h"
#include "smd/routing/layered/tree_grower.h"
#include "smd/routing/updn/orientation.h"
#include "smd/routing/updn/up_down.h"

namespace smd {

// What a link costs a path, the same in both directions: trees of least price lead back over the
// links that they came by. A pair of switches then has its turns twice, not two sets of turns, and
// fits a layer more easily.

/// How switches are numbered; a link costs as much as the numbers of its ends differ. Where
/// numbers run along rows, equally long paths that close a ring cost more than those that do not.
enum class Numbering : std::uint8_t {
  Guids,  // ascending
  Walk    // as a depth-first walk from the smallest GUID meets them, always by the lowest port
};

/// By edge of the graph.
[[nodiscard]] std::vector<std::uint32_t> price_links(const Fabric& fabric,
                                                     const SwitchGraph& graph,
                                                     Numbering numbering);

// Shortest paths to every LID as trees that share the load: the weight of a channel grows by the
// paths that are laid over it, and each tree takes the next hops of least weight (SSSP; Hoefler,
// Schneider and Lumsdaine 2009).

struct TreeStyle {
  TreePer per = TreePer::EachLid;
  NextHopChoice choice = NextHopChoice::Load;
};

struct BalancedTrees {
  TreePlan plan;
  InTrees trees;
  std::uint64_t heaviest_load = 0;  // of any channel, over the trees to base LIDs
  Imbalance imbalance;              // over the same
};

/// Paths are counted from hosts to hosts: from every host alike, to each by
/// EngineOptions::weights. LIDs of one port differ in their paths where they can; the LIDs of each
/// offset are balanced for themselves. The LID of a switch carries nothing and has the tree of a
/// host at it, if there is one.
[[nodiscard]] BalancedTrees build_balanced_trees(const Fabric& fabric,
                                                 const LidMap& lids,
                                                 const SwitchGraph& graph,
                                                 const Targets& targets,
                                                 TreeStyle style);

/// The same along up*/down* paths, the shortest ones: what fits one VL on any fabric.
[[nodiscard]] BalancedTrees build_legal_trees(const Fabric& fabric,
                                              const LidMap& lids,
                                              const OrientedFabric& oriented);

/// The same trees, where some channel carries more than it need: evened once more, and switches
/// that nobody passes on the way to a LID out of the way, too, so that others can come by them.
/// heaviest_load says whether that helped.
[[nodiscard]] BalancedTrees even_once_more(const Fabric& fabric,
                                           const SwitchGraph& graph,
                                           BalancedTrees trees);

/// Grows the trees to switches without hosts anew, along up*/down* paths.
void lead_around(const Fabric& fabric, const OrientedFabric& oriented, BalancedTrees& trees);

// Evens the loads of layered trees.

struct TreesToRebalance {
  const SwitchGraph& graph;
  const TreePlan& plan;
  InTrees& trees;
  std::uint32_t offset;  // of LIDs: only their trees
  std::vector<std::vector<std::uint32_t>>&
      changed;  // by tree: switches with another next hop, grows
  /// Roots that detours lead to, whose trees stay as they are; null: none.
  const IndexVector<SwitchIdx, char>* led_around = nullptr;
  /// Whether a switch of a tree may take this next hop; empty: it may.
  std::function<bool(std::uint32_t tree, std::uint32_t sw, std::uint8_t slot)> fits = {};
};

/// Takes paths off the fullest channels: next hops that have changed anyhow as long as that helps,
/// others only until no channel carries more than one did from scratch. Returns what to hand on.
/// With `settles_idle` see LoadRebalancer::run_settling(), for routes that nobody follows yet.
/// Requires: the loads of `grower` are those of all trees of the offset.
[[nodiscard]] Imbalance rebalance_trees(TreesToRebalance on,
                                        TreeGrower& grower,
                                        const Imbalance& before,
                                        bool settles_idle = false);

// Trees to switches without hosts that cost no layer of their own.
//
// Between two switches of the middle of a fat tree the shortest path goes down and up again, and
// together such paths close cycles with everybody else's. Nobody sends there but management: along
// up*/down* paths these few paths are longer, and all fit one layer.

inline constexpr std::string_view kDetoursNote =
    "paths between switches without hosts may take detours, so that one lane is enough";

class DetourSearch {
 public:
  /// `oriented` outlives it.
  explicit DetourSearch(const OrientedFabric& oriented) : search_(oriented.up_down) {}

  /// Aims at an idle family's root along up*/down* paths.
  void aim(TreeGrower& grower, SwitchIdx root) {
    search_.find(root, hops_);
    grower.aim_along(root, hops_);
  }

 private:
  UpDownSearch search_;
  NextHops hops_;
};

}  // namespace smd

// The in-trees of layered routing: which there are to be, and growing them one after the other over
// the channels that carry least so far.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "smd/routing/engine.h"
#include "smd/routing/trees/load_balancer.h"
#include "smd/routing/trees/route_trees.h"

namespace smd {

// Which trees there are to be, before any is grown.

enum class TreePer : std::uint8_t { EachLid, EachSwitch };

/// The LIDs of one port, or of all ports at a switch: one tree for each offset.
struct TreeFamily {
  SwitchIdx root;
  Lid base;  // of the port; with a family for all ports, of the first that has most LIDs
  std::uint32_t first_tree = 0;
  std::uint32_t trees = 1;
  std::uint64_t weight = 0;  // traffic to it

  [[nodiscard]] Lid lid(std::uint32_t offset) const {
    return Lid{static_cast<std::uint16_t>(base.value() + offset)};
  }
};

struct TreePlan {
  std::vector<TreeFamily> families;  // in the order of their roots, and of their trees
  TreeOfLid of_lid;
  std::vector<std::uint32_t> weight_of_source;  // by switch: paths that begin there

  [[nodiscard]] IndexVector<SwitchIdx, std::uint32_t> count_trees() const;

  [[nodiscard]] bool has_idle() const {
    return std::ranges::any_of(families, [this](const auto& family) { return is_idle(family); });
  }

  /// No traffic begins or ends at the root.
  [[nodiscard]] bool is_idle(const TreeFamily& family) const {
    return weight_of_source[family.root.value()] == 0;
  }
};

/// `sharing`: the LID of a switch has the tree of a host at it, if there is one.
/// Targets that are not there any more weigh nothing.
[[nodiscard]] TreePlan plan_trees(
    const LidMap& lids, const Targets& targets, Lid top, TreePer per, bool sharing);

// Grows one tree after the other, each over the channels that carry least so far.

/// Which of several shortest paths a tree takes.
enum class NextHopChoice : std::uint8_t {
  Load,   // the one whose channels carry least all the way
  Order,  // the lowest port: on regular fabrics fewer turns are used, so fewer layers
  Guids,  // the one whose links cost least (balanced_trees.h), numbered so
  Walk
};

/// What a path over each edge counts: over the fastest links kSlownessOfFastest, over one of a
/// quarter of their speed four times as much. Where nobody knows the speed, the link is fast.
[[nodiscard]] std::vector<std::uint32_t> compute_slowness(const Fabric& fabric,
                                                          const SwitchGraph& graph);

inline constexpr std::uint32_t kSlownessOfFastest = 16;

class TreeGrower {
 public:
  /// A candidate of a switch: the next hop of a shortest path, or of another search.
  struct Candidate {
    std::uint32_t edge;
    std::uint32_t to;
    std::uint8_t number;  // among the edges of the switch
  };

  /// All outlive it.
  TreeGrower(const Fabric& fabric, const SwitchGraph& graph, const TreePlan& plan, InTrees& trees);

  /// Forgets what channels carry.
  void clear_loads() { std::fill(load_.begin(), load_.end(), 0); }

  /// By edge: what NextHopChoice::Guids and Walk go by. Requires: set before grow() with either.
  void set_prices(std::vector<std::uint32_t> prices) { prices_ = std::move(prices); }

  /// By edge: paths, by what they weigh and by compute_slowness(). Whoever moves a slot himself
  /// keeps them up to date.
  [[nodiscard]] std::vector<std::uint64_t>& loads() { return load_; }

  [[nodiscard]] const std::vector<std::uint32_t>& slowness() const { return slowness_; }

  /// What the channel that carries most carries.
  [[nodiscard]] std::uint64_t find_heaviest_load() const {
    return load_.empty() ? 0 : *std::ranges::max_element(load_);
  }

  /// Finds the shortest paths to `root`, for the calls below, and the order of its trees.
  void aim_at(SwitchIdx root);

  /// Takes these candidates instead. Requires: they are those of another search for this root.
  void aim_along(SwitchIdx root, const NextHops& hops);

  /// Chooses the next hops of the family's tree for this LID offset: least used by lower offsets,
  /// then by `style`. Requires: aim_at(family.root), and the trees of lower offsets.
  void grow(const TreeFamily& family, std::uint32_t offset, NextHopChoice style);

  /// Leaves the next hops that are still candidates, and chooses for the other switches as grow()
  /// does. Returns the switches that have another next hop, near to far.
  std::vector<std::uint32_t> repair(const TreeFamily& family,
                                    std::uint32_t offset,
                                    NextHopChoice style);

  /// Every next hop of the tree is a candidate, and every switch that reaches the root has one.
  [[nodiscard]] bool is_whole(const TreeFamily& family, std::uint32_t offset) const;

  /// Links from the switch to the root aimed at; kUnreached where another search found the way.
  [[nodiscard]] std::uint32_t distance(std::uint32_t sw) const { return distance_[sw]; }

  /// The same of all switches.
  [[nodiscard]] std::span<const std::uint32_t> distances() const { return distance_; }

  /// Of a switch, by GUID.
  [[nodiscard]] std::uint32_t rank(std::uint32_t sw) const { return rank_[sw]; }

  /// Lets the switch take this slot, if it is a candidate, that evens the loads, and fits() says
  /// that it may. Requires: aim_at(), is_whole(), and the tree is loaded.
  bool shift(const TreeFamily& family,
             std::uint32_t offset,
             SwitchIdx sw,
             std::uint8_t candidate,
             const std::function<bool()>& fits);

  /// Adds what the tree carries to its channels.
  void load(const TreeFamily& family, std::uint32_t offset);

 private:
  [[nodiscard]] const Candidate& choose(const TreeFamily& family,
                                        std::uint32_t offset,
                                        NextHopChoice style,
                                        std::size_t at) const;
  [[nodiscard]] std::uint64_t count_paths(const TreeFamily& family,
                                          std::uint32_t offset,
                                          SwitchIdx through);
  [[nodiscard]] bool is_candidate(std::uint32_t sw, std::uint8_t number) const;
  [[nodiscard]] const Candidate& choose_light(std::span<const Candidate> some) const;
  [[nodiscard]] const Candidate& choose_first(std::span<const Candidate> some) const;
  [[nodiscard]] const Candidate& choose_cheap(std::span<const Candidate> some) const;
  [[nodiscard]] const Candidate& choose_same(std::span<const Candidate> some) const;
  [[nodiscard]] const Candidate& choose_fresh(const TreeFamily& family,
                                              std::uint32_t offset,
                                              std::uint32_t sw,
                                              std::span<const Candidate> some) const;

  const SwitchGraph& graph_;
  const TreePlan& plan_;
  InTrees& trees_;
  std::vector<std::uint32_t> slowness_;  // by edge
  std::vector<std::uint64_t> load_;      // by edge
  std::vector<std::uint32_t> prices_;    // by edge, or none
  std::vector<std::uint32_t> rank_;      // of switches by GUID

  // Of the root aimed at: candidates of the i-th switch near to far.
  std::vector<std::uint32_t> distance_;
  std::vector<std::uint32_t> place_;  // by switch: which one it is; kUnreached: none of them
  std::vector<std::uint32_t> first_candidate_;
  std::vector<Candidate> candidates_;

  // Scratch of one tree, by switch.
  std::vector<std::uint64_t> cost_;
  std::vector<std::uint64_t> price_;
  std::vector<std::uint64_t> flow_;
  std::vector<char> passes_;
};

}  // namespace smd

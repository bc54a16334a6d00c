// Grows one tree after the other, each over the channels that carry least so far.
#pragma once

#include <algorithm>
#include <span>
#include <vector>

#include "smd/routing/layers/tree_plan.h"
#include "smd/routing/spread.h"

namespace smd {

/// Which of several shortest ways a tree takes.
enum class WayChoice : std::uint8_t {
  Load,   // the one whose channels carry least all the way
  Order,  // the lowest port: on regular fabrics fewer turns are used, so fewer lanes
  Guids,  // the one whose cables cost least (cable_prices.h), numbered so
  Walk
};

/// What a path over each edge counts: over the fastest links kSlownessOfFastest, over one of a
/// quarter of their speed four times as much. Where nobody knows the speed, the link is fast.
[[nodiscard]] std::vector<std::uint32_t> compute_slowness(const Fabric& fabric,
                                                          const SwitchGraph& graph);

inline constexpr std::uint32_t kSlownessOfFastest = 16;

class TreeGrower {
 public:
  /// A right way on from a switch: the next hop of a shortest path, or of another search.
  struct Way {
    std::uint32_t edge;
    std::uint32_t to;
    std::uint8_t number;  // among the edges of the switch
  };

  /// All outlive it.
  TreeGrower(const Fabric& fabric, const SwitchGraph& graph, const TreePlan& plan, InTrees& trees);

  /// Forgets what channels carry.
  void clear_loads() { std::fill(load_.begin(), load_.end(), 0); }

  /// By edge: what WayChoice::Guids and Walk go by. Requires: set before grow() with either.
  void set_prices(std::vector<std::uint32_t> prices) { prices_ = std::move(prices); }

  /// By edge: paths, by what they weigh and by compute_slowness(). Whoever moves a way himself
  /// keeps them up to date.
  [[nodiscard]] std::vector<std::uint64_t>& loads() { return load_; }

  [[nodiscard]] const std::vector<std::uint32_t>& slowness() const { return slowness_; }

  /// What the channel that carries most carries.
  [[nodiscard]] std::uint64_t find_heaviest_load() const {
    return load_.empty() ? 0 : *std::ranges::max_element(load_);
  }

  /// Finds the shortest ways to `root`, for the calls below, and the order of its trees.
  void aim_at(SwitchIdx root);

  /// Takes these ways instead. Requires: they are those of another search for this root.
  void aim_along(SwitchIdx root, const NextHops& hops);

  /// Chooses the ways of the family's tree for this LID offset: least used by lower offsets, then
  /// by `style`. Requires: aim_at(family.root), and the trees of lower offsets.
  void grow(const TreeFamily& family, std::uint32_t offset, WayChoice style);

  /// Leaves the ways that are still right, and chooses for the other switches as grow() does.
  /// Returns the switches that have another way, near to far.
  std::vector<std::uint32_t> mend(const TreeFamily& family, std::uint32_t offset, WayChoice style);

  /// Every way of the tree is a right one, and every switch that reaches the root has one.
  [[nodiscard]] bool is_whole(const TreeFamily& family, std::uint32_t offset) const;

  /// Lets the switch take this way, if it is a right one and that evens the loads.
  /// Requires: aim_at(), is_whole(), and the tree is loaded.
  bool shift(const TreeFamily& family, std::uint32_t offset, SwitchIdx sw, std::uint8_t way);

  /// Adds what the tree carries to its channels.
  void load(const TreeFamily& family, std::uint32_t offset);

 private:
  [[nodiscard]] const Way& choose(const TreeFamily& family,
                                  std::uint32_t offset,
                                  WayChoice style,
                                  std::size_t at) const;
  [[nodiscard]] std::uint64_t count_paths(const TreeFamily& family,
                                          std::uint32_t offset,
                                          SwitchIdx through);
  [[nodiscard]] bool is_way(std::uint32_t sw, std::uint8_t number) const;
  [[nodiscard]] const Way& choose_light(std::span<const Way> some) const;
  [[nodiscard]] const Way& choose_first(std::span<const Way> some) const;
  [[nodiscard]] const Way& choose_cheap(std::span<const Way> some) const;
  [[nodiscard]] const Way& choose_same(std::span<const Way> some) const;
  [[nodiscard]] const Way& choose_fresh(const TreeFamily& family,
                                        std::uint32_t offset,
                                        std::uint32_t sw,
                                        std::span<const Way> some) const;

  const SwitchGraph& graph_;
  const TreePlan& plan_;
  InTrees& trees_;
  std::vector<std::uint32_t> slowness_;  // by edge
  std::vector<std::uint64_t> load_;      // by edge
  std::vector<std::uint32_t> prices_;    // by edge, or none
  std::vector<std::uint32_t> rank_;      // of switches by GUID

  // Of the root aimed at: ways of the i-th switch near to far.
  std::vector<std::uint32_t> distance_;
  std::vector<std::uint32_t> place_;  // by switch: which one it is; kUnreached: none of them
  std::vector<std::uint32_t> first_way_;
  std::vector<Way> ways_;

  // Scratch of one tree, by switch.
  std::vector<std::uint64_t> cost_;
  std::vector<std::uint64_t> price_;
  std::vector<std::uint64_t> flow_;
  std::vector<char> passes_;
};

}  // namespace smd

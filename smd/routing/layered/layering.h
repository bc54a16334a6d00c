// Whole-path layering: every path on one layer from its first channel to its last, such that no
// layer has a cycle of dependencies (Skeie, Lysne and Theiss 2002; Domke, Hoefler and Nagel 2011).
//
// Layer by layer: all paths without a layer are laid into it; where they close cycles the
// dependencies with fewest paths are given up, and the paths that need them wait. What the layer
// then still takes without a cycle joins it path by path. The rest goes on to the next layer.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "smd/routing/graph/acyclic_graph.h"
#include "smd/routing/trees/route_trees.h"

namespace smd {

/// What has one layer together.
enum class Bundle : std::uint8_t {
  Pair,  // all paths between two switches, in both directions
  Path   // from one switch along one tree
};

class Layering {
 public:
  /// Both outlive it. Every path counts, from every switch that a tree reaches.
  Layering(const SwitchGraph& graph, const InTrees& trees, Bundle bundle);

  /// Gives every bundle a layer. Nothing: more than `most` layers would be needed.
  [[nodiscard]] std::optional<unsigned> assign(unsigned most) { return assign(most, false); }

  /// Gives up as soon as the rest looks like more than the layers that are left hold: each holds
  /// less than the one before, since what is left is what did not go together.
  [[nodiscard]] std::optional<unsigned> assign_if_likely(unsigned most) {
    return assign(most, true);
  }

  /// Says what layer a path has had, before resume(). False: its bundle has had another one.
  [[nodiscard]] bool put(std::uint32_t tree, SwitchIdx source, std::uint8_t layer);

  /// Opens the layers that were put, with the paths of the trees as they are, as far as next hops
  /// lead. `before`: the slots of all trees as they were, which packets may still go by; outlives
  /// this. False: a layer has a cycle.
  [[nodiscard]] bool open(std::span<const std::uint8_t> before);

  /// Gives these paths along the tree, which have changed, a layer each below `most`: the one that
  /// they have where they fit it, else the first that takes them. All, or none and nothing changes.
  /// What the paths needed before stays taken. Requires: Bundle::Path, open() without `before`.
  [[nodiscard]] bool move(std::uint32_t tree,
                          std::span<const std::uint32_t> sources,
                          unsigned most);

  /// Layers that paths have.
  [[nodiscard]] unsigned count_layers() const;

  /// A dependency, and the layers that are to take it as bits.
  struct LayeredUse {
    Dependency dependency;
    std::uint16_t layers;
  };

  /// Takes dependencies into layers: all, or none of them where that closes a cycle. What was taken
  /// before stays, so that packets may go either way while tables change. Requires: open().
  [[nodiscard]] bool take_in(std::span<const LayeredUse> all);

  /// The same with the paths of these switches along the tree, each in the layer that it has.
  [[nodiscard]] bool take_in(std::uint32_t tree, std::span<const std::uint32_t> sources);

  /// Of a path that has a layer in open(), as a bit; else 0.
  [[nodiscard]] std::uint16_t layer_bit(std::uint32_t tree, std::uint32_t source) const;

  [[nodiscard]] const Dependencies& dependencies() const { return dependencies_; }

  /// Says that a path is not what it was: its bundle keeps its layer only if it still fits.
  void reopen(std::uint32_t tree, SwitchIdx source);

  /// Gives a layer to every bundle that has none or was reopened, and leaves the others where they
  /// are. Nothing: what has its layer closes a cycle, or more than `most` layers would be needed.
  [[nodiscard]] std::optional<unsigned> resume(unsigned most);

  /// Requires: assign() or resume() has succeeded; the tree reaches the switch. 0 at its root.
  [[nodiscard]] std::uint8_t layer(std::uint32_t tree, SwitchIdx source) const;

 private:
  [[nodiscard]] std::size_t row_of(std::uint32_t tree) const;

  [[nodiscard]] std::uint8_t* row(std::size_t number) {
    return layers_.data() + number * trees_.switches();
  }

  // Marks beside the numbers of layers.
  static constexpr std::uint8_t kLeftOut = 253;  // of the layer that is being filled
  static constexpr std::uint8_t kWaiting = 254;
  static constexpr std::uint8_t kNoPath = 255;

  [[nodiscard]] std::optional<unsigned> assign(unsigned most, bool only_if_likely);
  [[nodiscard]] bool take_needed(std::uint8_t layer);
  void set_layer(std::size_t row, std::uint32_t source, std::uint8_t layer);

  /// Calls use(dependency, paths) for what bundles with this mark need, tree by tree.
  template <class Use>
  void each_dependency(std::uint8_t mark, Use&& use);

  [[nodiscard]] std::size_t count_waiting() const;
  void leave_out_what_is_cut(const AcyclicGraph& layer);
  void settle(std::uint8_t layer);
  void fill_up(AcyclicGraph& layer, std::uint8_t number, std::uint64_t budget);
  /// What the bundle needs, into needed_.
  void list_dependencies(std::size_t row, std::uint32_t source);
  void list_path(std::uint32_t tree, std::uint32_t source);
  /// What it needs as long as its packets may go by next hops of before as well, into needed_.
  void list_meanwhile(std::size_t row, std::uint32_t source);
  /// Calls visit(tree, source) for the paths of a bundle.
  template <class Visit>
  void each_path(std::size_t row, std::uint32_t source, Visit&& visit) const;

  const InTrees& trees_;
  Dependencies dependencies_;
  Bundle bundle_;
  std::vector<std::uint8_t> layers_;    // by root (Pair) or tree (Path), then by source
  std::vector<std::uint32_t> waiting_;  // by row: bundles without a layer

  struct Reopened {
    std::size_t row;
    std::uint32_t source;
    std::uint8_t layer;
  };

  std::vector<Reopened> reopened_;

  std::span<const std::uint8_t> before_;
  std::vector<AcyclicGraph> open_;  // by layer
  std::uint64_t budget_ = 0;        // of searches in them

  // Scratch.
  std::vector<std::uint32_t> carried_;
  std::vector<char> fits_;
  std::vector<Dependency> needed_, meanwhile_;
  std::vector<LayeredUse> wanted_, taken_;
};

template <class Visit>
void Layering::each_path(std::size_t row, std::uint32_t source, Visit&& visit) const {
  const auto end = static_cast<std::uint32_t>(row);
  if (bundle_ == Bundle::Path) return visit(end, source);
  for (const auto& [root, from] : {std::pair{end, source}, std::pair{source, end}}) {
    const std::uint32_t first = trees_.first_tree(SwitchIdx{root});
    for (std::uint32_t i = 0; i < trees_.tree_count(SwitchIdx{root}); ++i) visit(first + i, from);
  }
}

template <class Use>
void Layering::each_dependency(std::uint8_t mark, Use&& use) {
  for (std::uint32_t tree = 0; tree < trees_.count(); ++tree) {
    const std::size_t number = row_of(tree);
    if (mark == kWaiting && waiting_[number] == 0) continue;
    const std::uint8_t* const marks = row(number);
    const std::uint8_t* const slots = trees_.slots(tree).data();
    const std::uint32_t root = trees_.root(tree).value();
    const std::vector<std::uint32_t>& order = trees_.order(tree);
    for (std::size_t at = order.size(); at-- > 1;) {
      const std::uint32_t sw = order[at];
      const std::uint32_t paths = carried_[sw] + (marks[sw] == mark);
      carried_[sw] = 0;
      if (paths == 0 || slots[sw] == kNoSlot) continue;
      const Channel channel = dependencies_.first_of(sw) + slots[sw];
      const std::uint32_t next = dependencies_.to(channel);
      if (next == root || slots[next] == kNoSlot) continue;
      use(dependencies_.at(channel, slots[next]), paths);
      carried_[next] += paths;
    }
  }
}

}  // namespace smd

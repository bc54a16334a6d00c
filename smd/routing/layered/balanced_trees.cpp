#include "smd/routing/layered/balanced_trees.h"

#include <algorithm>
#include <utility>

#include "smd/routing/trees/rebalance.h"

namespace smd {
namespace {

using Numbers = IndexVector<SwitchIdx, std::uint32_t>;

constexpr std::uint32_t kNotMet = ~std::uint32_t{0};

std::vector<SwitchIdx> list_by_guid(const Fabric& fabric) {
  std::vector<SwitchIdx> listed;
  for (const SwitchIdx sw : fabric.switch_node.indices()) listed.push_back(sw);
  std::ranges::sort(
      listed, {}, [&](SwitchIdx sw) { return fabric.node_guid[fabric.switch_node[sw]]; });
  return listed;
}

// Every island after the other.
Numbers number_by_walk(const SwitchGraph& graph, const std::vector<SwitchIdx>& by_guid) {
  Numbers number(graph.switches(), kNotMet);
  Numbers next_edge(graph.switches(), 0);
  std::uint32_t met = 0;
  std::vector<SwitchIdx> path;
  for (const SwitchIdx start : by_guid) {
    if (number[start] != kNotMet) continue;
    number[start] = met++;
    path.assign(1, start);
    while (!path.empty()) {
      const SwitchIdx sw = path.back();
      if (next_edge[sw] == graph.edges(sw).size()) {
        path.pop_back();
        continue;
      }
      const SwitchIdx neighbour = graph.edges(sw)[next_edge[sw]++].to;
      if (number[neighbour] != kNotMet) continue;
      number[neighbour] = met++;
      path.push_back(neighbour);
    }
  }
  return number;
}

class FamilyTrees final : public MovableTrees {
 public:
  explicit FamilyTrees(const TreesToRebalance& on) : on_(on) {
    for (const TreeFamily& family : on.plan.families) {
      const bool stays = on.led_around != nullptr && (*on.led_around)[family.root] != 0;
      if (on.offset < family.trees && family.weight != 0 && !stays) families_.push_back(&family);
    }
  }

  [[nodiscard]] std::uint32_t count() const override {
    return static_cast<std::uint32_t>(families_.size());
  }

  [[nodiscard]] SwitchIdx root(std::uint32_t tree) const override { return families_[tree]->root; }

  [[nodiscard]] std::uint32_t demand(std::uint32_t tree) const override {
    return static_cast<std::uint32_t>(families_[tree]->weight);
  }

  [[nodiscard]] std::uint32_t edge(std::uint32_t tree, SwitchIdx sw) const override {
    const std::uint8_t slot = on_.trees.slots(number(tree))[sw.value()];
    return slot == kNoSlot ? kNoEdge : on_.graph.first_edge(sw) + slot;
  }

  [[nodiscard]] bool has_changed(std::uint32_t tree) const override {
    return !on_.changed[number(tree)].empty();
  }

  [[nodiscard]] bool has_changed(std::uint32_t tree, SwitchIdx sw) const override {
    return std::ranges::count(on_.changed[number(tree)], sw.value()) != 0;
  }

  /// Not where more LIDs of the same port would go the same way, nor where a path would not keep
  /// its layer.
  [[nodiscard]] bool take(std::uint32_t tree, SwitchIdx sw, std::uint32_t edge) override {
    const TreeFamily& family = *families_[tree];
    const auto to = static_cast<std::uint8_t>(edge - on_.graph.first_edge(sw));
    std::uint8_t& slot = on_.trees.slots(number(tree))[sw.value()];
    int more = 0;
    for (std::uint32_t other = 0; other < family.trees; ++other) {
      const std::uint8_t its = on_.trees.slots(family.first_tree + other)[sw.value()];
      if (other != on_.offset) more += (its == to) - (its == slot);
    }
    if (more > 0 || (on_.fits && !on_.fits(number(tree), sw.value(), to))) return false;
    slot = to;
    on_.changed[number(tree)].push_back(sw.value());
    return true;
  }

 private:
  [[nodiscard]] std::uint32_t number(std::uint32_t tree) const {
    return families_[tree]->first_tree + on_.offset;
  }

  const TreesToRebalance& on_;
  std::vector<const TreeFamily*> families_;
};

}  // namespace

std::vector<std::uint32_t> price_links(const Fabric& fabric,
                                       const SwitchGraph& graph,
                                       Numbering numbering) {
  const std::vector<SwitchIdx> by_guid = list_by_guid(fabric);
  Numbers number(graph.switches(), 0);
  if (numbering == Numbering::Walk) {
    number = number_by_walk(graph, by_guid);
  } else {
    for (std::uint32_t at = 0; at < by_guid.size(); ++at) number[by_guid[at]] = at;
  }
  std::vector<std::uint32_t> prices;
  prices.reserve(graph.edge_count());
  for (const SwitchIdx sw : fabric.switch_node.indices()) {
    for (const SwitchEdge& edge : graph.edges(sw)) {
      const auto [less, more] = std::minmax(number[sw], number[edge.to]);
      prices.push_back(more - less);
    }
  }
  return prices;
}

namespace {

/// Which next hops up*/down* allows towards every root.
class LegalHops {
 public:
  explicit LegalHops(const OrientedFabric& oriented)
      : search_(oriented.up_down),
        leads_up_(oriented.graph.edge_count(), 0),
        descends_(oriented.graph.switches(), std::vector<bool>(oriented.graph.switches(), false)) {
    for (const SwitchIdx sw : oriented.up_down.order()) {
      for (const UpDownGraph::Link& link : oriented.up_down.up(sw)) leads_up_[link.edge] = 1;
    }
  }

  void aim(TreeGrower& grower, SwitchIdx root) {
    search_.find(root, hops_);
    grower.aim_along(root, hops_);
    std::vector<bool>& descends = descends_[root];
    descends[root.value()] = true;
    for (std::size_t at = 0; at < hops_.order.size(); ++at)
      descends[hops_.order[at].value()] = leads_up_[hops_.edges[hops_.first[at]]] == 0;
  }

  /// Whoever has a way down descends, and all others climb. Requires: aim() at the root.
  [[nodiscard]] bool allows(SwitchIdx root,
                            SwitchIdx sw,
                            const SwitchGraph& graph,
                            std::uint32_t edge) const {
    const std::vector<bool>& descends = descends_[root];
    if (!descends[sw.value()]) return leads_up_[edge] != 0;
    return leads_up_[edge] == 0 && descends[graph.edge(edge).to.value()];
  }

 private:
  UpDownSearch search_;
  NextHops hops_;
  std::vector<char> leads_up_;                          // by edge
  IndexVector<SwitchIdx, std::vector<bool>> descends_;  // by root and switch: has a way down
};

BalancedTrees build_trees(const Fabric& fabric,
                          const LidMap& lids,
                          const SwitchGraph& graph,
                          const Targets& targets,
                          TreeStyle style,
                          LegalHops* legal) {
  TreePlan plan = plan_trees(lids, targets, lids.top, style.per, true);
  InTrees trees{graph, plan.count_trees()};
  TreeGrower grower{fabric, graph, plan, trees};
  std::vector<SwitchIdx> roots(trees.count());
  for (const TreeFamily& family : plan.families) {
    for (std::uint32_t tree = 0; tree < family.trees; ++tree)
      roots[family.first_tree + tree] = family.root;
  }
  const auto fits = [&](std::uint32_t tree, std::uint32_t sw, std::uint8_t slot) {
    const SwitchIdx at{sw};
    return legal == nullptr || legal->allows(roots[tree], at, graph, graph.first_edge(at) + slot);
  };
  if (style.choice == NextHopChoice::Guids)
    grower.set_prices(price_links(fabric, graph, Numbering::Guids));
  if (style.choice == NextHopChoice::Walk)
    grower.set_prices(price_links(fabric, graph, Numbering::Walk));
  std::uint32_t offsets = 0;
  for (const TreeFamily& family : plan.families) offsets = std::max(offsets, family.trees);
  std::uint64_t heaviest = 0;
  Imbalance imbalance;
  for (std::uint32_t offset = 0; offset < offsets; ++offset) {
    grower.clear_loads();
    SwitchIdx aim = kNone<SwitchIdx>;
    for (const TreeFamily& family : plan.families) {
      if (offset >= family.trees) continue;
      if (family.root != aim) {
        legal != nullptr ? legal->aim(grower, family.root) : grower.aim_at(family.root);
      }
      aim = family.root;
      grower.grow(family, offset, style.choice);
      grower.load(family, offset);
    }
    if (style.choice == NextHopChoice::Load) {
      std::vector<std::vector<std::uint32_t>> moved(trees.count());
      static_cast<void>(rebalance_trees({.graph = graph,
                                         .plan = plan,
                                         .trees = trees,
                                         .offset = offset,
                                         .changed = moved,
                                         .fits = fits},
                                        grower,
                                        {}));
    }
    if (offset != 0) continue;
    heaviest = grower.find_heaviest_load();
    imbalance = measure_imbalance(grower.loads());
  }
  return {std::move(plan), std::move(trees), heaviest, imbalance};
}

}  // namespace

BalancedTrees build_balanced_trees(const Fabric& fabric,
                                   const LidMap& lids,
                                   const SwitchGraph& graph,
                                   const Targets& targets,
                                   TreeStyle style) {
  return build_trees(fabric, lids, graph, targets, style, nullptr);
}

BalancedTrees build_legal_trees(const Fabric& fabric,
                                const LidMap& lids,
                                const OrientedFabric& oriented) {
  LegalHops legal{oriented};
  return build_trees(fabric, lids, oriented.graph, oriented.targets, {}, &legal);
}

BalancedTrees even_once_more(const Fabric& fabric, const SwitchGraph& graph, BalancedTrees trees) {
  TreeGrower grower{fabric, graph, trees.plan, trees.trees};
  std::uint32_t offsets = 0;
  for (const TreeFamily& family : trees.plan.families) offsets = std::max(offsets, family.trees);
  std::vector<std::vector<std::uint32_t>> moved(trees.trees.count());
  for (std::uint32_t offset = 0; offset < offsets; ++offset) {
    grower.clear_loads();
    for (const TreeFamily& family : trees.plan.families) {
      if (offset < family.trees) grower.load(family, offset);
    }
    const Imbalance reached = rebalance_trees({.graph = graph,
                                               .plan = trees.plan,
                                               .trees = trees.trees,
                                               .offset = offset,
                                               .changed = moved},
                                              grower,
                                              {},
                                              true);
    if (offset != 0) continue;
    trees.heaviest_load = grower.find_heaviest_load();
    trees.imbalance = reached;
  }
  return trees;
}

void lead_around(const Fabric& fabric, const OrientedFabric& oriented, BalancedTrees& trees) {
  TreeGrower grower{fabric, oriented.graph, trees.plan, trees.trees};
  DetourSearch detours{oriented};
  for (const TreeFamily& family : trees.plan.families) {
    if (!trees.plan.is_idle(family)) continue;
    detours.aim(grower, family.root);
    for (std::uint32_t offset = 0; offset < family.trees; ++offset)
      grower.grow(family, offset, NextHopChoice::Order);
  }
}

Imbalance rebalance_trees(TreesToRebalance on,
                          TreeGrower& grower,
                          const Imbalance& before,
                          bool settles_idle) {
  FamilyTrees trees{on};
  Traffic traffic{.sources = IndexVector<SwitchIdx, std::uint32_t>(on.graph.switches(), 0),
                  .demand = IndexVector<SwitchIdx, std::uint64_t>(on.graph.switches(), 0)};
  for (const SwitchIdx sw : traffic.sources.indices())
    traffic.sources[sw] = on.plan.weight_of_source[sw.value()];
  for (std::uint32_t tree = 0; tree < trees.count(); ++tree)
    traffic.demand[trees.root(tree)] += trees.demand(tree);
  std::vector<std::uint64_t>& load = grower.loads();
  const LoadTarget aim =
      find_load_target(find_least_peak(on.graph, traffic, grower.slowness(), load), before, load);
  LoadRebalancer rebalancer{on.graph, traffic.sources, grower.slowness(), load, trees};
  if (settles_idle) {
    rebalancer.run_settling(aim.best);
  } else if (before.peak == 0) {
    rebalancer.run_from_scratch(aim.best);
  } else {
    rebalancer.run(aim);
  }
  return carry_imbalance(before, load);
}

}  // namespace smd

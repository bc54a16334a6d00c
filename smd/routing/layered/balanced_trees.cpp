#include "smd/routing/layered/balanced_trees.h"
#include "smd/routing/layered/tree_repair.h"

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

BalancedTrees build_balanced_trees(const Fabric& fabric,
                                   const LidMap& lids,
                                   const SwitchGraph& graph,
                                   const Targets& targets,
                                   TreeStyle style) {
  TreePlan plan = plan_trees(lids, targets, lids.top, style.per, true);
  InTrees trees{graph, plan.count_trees()};
  TreeGrower grower{fabric, graph, plan, trees};
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
      if (family.root != aim) grower.aim_at(family.root);
      aim = family.root;
      grower.grow(family, offset, style.choice);
      grower.load(family, offset);
    }
    if (style.choice == NextHopChoice::Load) {
      std::vector<std::vector<std::uint32_t>> moved(trees.count());
      static_cast<void>(rebalance_trees(
          {.graph = graph, .plan = plan, .trees = trees, .offset = offset, .changed = moved},
          grower,
          {}));
    }
    if (offset != 0) continue;
    heaviest = grower.find_heaviest_load();
    imbalance = measure_imbalance(grower.loads());
  }
  return {std::move(plan), std::move(trees), heaviest, imbalance};
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

}  // namespace smd

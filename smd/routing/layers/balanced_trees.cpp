#include "smd/routing/layers/balanced_trees.h"

#include <algorithm>
#include <utility>

#include "smd/routing/keep/load_aim.h"
#include "smd/routing/layers/cable_prices.h"
#include "smd/routing/layers/detours.h"

namespace smd {

BalancedTrees build_balanced_trees(const Fabric& fabric,
                                   const LidMap& lids,
                                   const SwitchGraph& graph,
                                   const Targets& targets,
                                   const RoutingRequest& request,
                                   TreeStyle style) {
  TreePlan plan = plan_trees(fabric, lids, targets, request, lids.top, style.per, true);
  InTrees trees{graph, plan.count_trees()};
  TreeGrower grower{fabric, graph, plan, trees};
  if (style.choice == WayChoice::Guids)
    grower.set_prices(price_cables(fabric, graph, Numbering::Guids));
  if (style.choice == WayChoice::Walk)
    grower.set_prices(price_cables(fabric, graph, Numbering::Walk));
  std::uint32_t offsets = 0;
  for (const TreeFamily& family : plan.families) offsets = std::max(offsets, family.trees);
  std::uint64_t heaviest = 0;
  Evenness evenness;
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
    if (offset != 0) continue;
    heaviest = grower.find_heaviest_load();
    evenness = measure_evenness(grower.loads());
  }
  return {std::move(plan), std::move(trees), heaviest, evenness};
}

void lead_around(const Fabric& fabric, const OrientedFabric& oriented, BalancedTrees& trees) {
  TreeGrower grower{fabric, oriented.graph, trees.plan, trees.trees};
  DetourSearch detours{oriented};
  for (const TreeFamily& family : trees.plan.families) {
    if (!trees.plan.is_idle(family)) continue;
    detours.aim(grower, family.root);
    for (std::uint32_t offset = 0; offset < family.trees; ++offset)
      grower.grow(family, offset, WayChoice::Order);
  }
}

}  // namespace smd

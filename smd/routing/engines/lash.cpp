// Shortest paths between switches, free of deadlock by layers.
#include <optional>

#include "smd/routing/engines/engines.h"
#include "smd/routing/layers/keep_layers.h"

namespace smd {
namespace {

class Lash final : public Engine {
 public:
  std::string_view name() const override { return "lash"; }

  std::string_view contract() const override {
    return "Shortest paths on any fabric, one tree for all LIDs of one offset at a switch, and one "
           "SL for every pair of switches in both directions: SL = VL = lane. A pair goes into "
           "the first lane whose channel dependency graph it leaves without a cycle, which is "
           "the deadlock argument. As few lanes as the search finds. Of two sets of trees, "
           "balanced ones and ones that use few turns, the one that needs fewer lanes. Refuses "
           "when the lanes are not enough. Source: Skeie, Lysne and Theiss 2002.";
  }

  Result<RoutingTables> compute(const Fabric& fabric,
                                const LidMap& lids,
                                const RoutingRequest& request) const override {
    if (request.in_force != nullptr && request.in_force->routing->engine == name()) {
      if (auto kept =
              keep_layered_tables(name(), fabric, lids, request, TreePer::EachSwitch, Bundle::Pair))
        return std::move(*kept);
    }
    const SwitchGraph graph{fabric};
    const Targets targets = find_targets(fabric, lids);
    const unsigned budget = find_lane_budget(fabric, request);
    std::optional<RoutingTables> best;
    std::optional<unsigned> needed;
    for (const WayChoice choice : {WayChoice::Load, WayChoice::Order}) {
      const BalancedTrees trees = build_balanced_trees(
          fabric, lids, graph, targets, request, {TreePer::EachSwitch, choice});
      Layering layering{graph, trees.trees, Bundle::Pair};
      const unsigned most = needed ? *needed - 1 : kMostLanes;
      const std::optional<unsigned> lanes = layering.assign(most);
      if (!lanes) continue;
      needed = lanes;
      if (*needed <= budget)
        best = make_layered_tables(name(), graph, targets, trees, layering, *needed);
      if (*needed == 1) break;
    }
    if (!best) return tl::unexpected<Error>(refuse_for_lanes(needed, budget));
    return std::move(*best);
  }
};

}  // namespace

const Engine& lash_engine() {
  static const Lash engine;
  return engine;
}

}  // namespace smd

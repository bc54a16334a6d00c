// Shortest paths between switches, free of deadlock by layers.
#include <optional>
#include <utility>

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
           "balanced by load and always by the lowest port, the evener one, unless only the other "
           "fits the lanes; where neither does, trees whose paths lead back over the cables that "
           "they came by. Refuses when the lanes are not enough. Source: Skeie, Lysne and Theiss "
           "2002.";
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
    const auto build = [&](WayChoice choice) {
      return build_balanced_trees(
          fabric, lids, graph, targets, request, {TreePer::EachSwitch, choice});
    };
    BalancedTrees trees = build(WayChoice::Load);
    BalancedTrees others = build(WayChoice::Order);
    if (others.heaviest_load <= trees.heaviest_load) std::swap(trees, others);
    for (const BalancedTrees* const some : {&trees, &others}) {
      Layering layering{graph, some->trees, Bundle::Pair};
      if (const auto vls = layering.assign_if_likely(budget))
        return make_layered_tables(name(), graph, targets, *some, layering, *vls);
    }
    // Then those that lead back over the cables that they came by, and at last the orderly ones,
    // however unlikely; a refusal says how many lanes the best of them take.
    std::optional<unsigned> fewest;
    for (const WayChoice choice : {WayChoice::Guids, WayChoice::Walk, WayChoice::Order}) {
      const BalancedTrees some = build(choice);
      Layering layering{graph, some.trees, Bundle::Pair};
      const std::optional<unsigned> needed = layering.assign(kMostLanes);
      if (needed && *needed <= budget)
        return make_layered_tables(name(), graph, targets, some, layering, *needed);
      if (needed && (!fewest || *needed < *fewest)) fewest = needed;
    }
    return tl::unexpected<Error>(refuse_for_lanes(fewest, budget));
  }
};

}  // namespace

const Engine& lash_engine() {
  static const Lash engine;
  return engine;
}

}  // namespace smd

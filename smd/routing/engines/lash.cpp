// Shortest paths between switches, free of deadlock by layers.
#include <algorithm>
#include <optional>
#include <string_view>
#include <utility>

#include "smd/routing/engines/engines.h"
#include "smd/routing/layered/layered_tables.h"
#include "smd/routing/nue/paths_of_switches.h"

namespace smd {
namespace {

constexpr std::string_view kOwnTreesNote = "a tree for every LID, as there was on one lane";

class Lash final : public Engine {
 public:
  std::string_view name() const override { return "lash"; }

  bool takes_path_sets() const override { return true; }

  std::string_view contract() const override {
    return "Shortest paths on any fabric, one tree for all LIDs of one offset at a switch, and one "
           "SL for every pair of switches in both directions: SL = VL = lane. A pair goes into "
           "the first lane whose channel dependency graph it leaves without a cycle, which is "
           "the deadlock argument. As few lanes as the search finds. Of two sets of trees, "
           "balanced by load and always by the lowest port, the evener one, unless only the other "
           "fits the lanes; where neither does, trees whose paths lead back over the cables that "
           "they came by. Where switches without hosts are and no odd rings of switches, as in "
           "fat trees, and one lane is enough for what hosts send, every LID has a tree of its own "
           "on it, as with dfsssp: paths to "
           "such switches may be longer, a change touches what it breaks, and a note says so. "
           "Refuses when the lanes are not enough. Source: Skeie, Lysne and Theiss 2002.";
  }

 private:
  std::optional<Result<RoutingTables>> update(const Fabric& fabric,
                                              const LidMap& lids,
                                              const RoutingRequest& request,
                                              const PreviousRoutes& previous) const override {
    if (auto updated = update_on_one_vl(name(), fabric, lids, request)) return std::move(*updated);
    if (stay_apart_on_one_vl_only(*previous.routing)) return std::nullopt;
    const RoutingTables& before = *previous.routing;
    const bool own_trees = (before.vls == 1 && before.turns != nullptr) ||
                           std::ranges::count(before.notes, kOwnTreesNote) != 0;
    auto updated = update_layered_tables(name(),
                                         fabric,
                                         lids,
                                         request,
                                         own_trees ? TreePer::EachLid : TreePer::EachSwitch,
                                         Bundle::Pair);
    if (!updated) return std::nullopt;
    if (own_trees) {
      updated->notes.emplace_back(kOwnTreesNote);
      static_cast<void>(record_turns(fabric, lids, *updated));
    }
    return std::move(*updated);
  }

  Result<RoutingTables> compute_new(const Fabric& fabric,
                                    const LidMap& lids,
                                    const RoutingRequest& request) const override {
    if (auto tables = lay_tree_on_one_vl(name(), fabric, lids, request)) return std::move(*tables);
    const SwitchGraph graph{fabric};
    const Targets targets = find_targets(fabric, lids);
    const unsigned budget = find_vl_budget(fabric, request);
    const auto build = [&](NextHopChoice choice) {
      return build_balanced_trees(fabric, lids, graph, targets, {TreePer::EachSwitch, choice});
    };
    BalancedTrees trees = build(NextHopChoice::Load);
    BalancedTrees others = build(NextHopChoice::Order);
    if (others.heaviest_load <= trees.heaviest_load) std::swap(trees, others);
    for (const BalancedTrees* const some : {&trees, &others}) {
      Layering layering{graph, some->trees, Bundle::Pair};
      if (const auto vls = layering.assign_if_likely(budget))
        return make_layered_tables(name(), graph, targets, *some, layering, *vls);
    }
    // Then those that lead back over the links that they came by, and at last the orderly ones,
    // however unlikely; a refusal says how many layers the best of them take.
    std::optional<unsigned> fewest;
    for (const NextHopChoice choice :
         {NextHopChoice::Guids, NextHopChoice::Walk, NextHopChoice::Order}) {
      const BalancedTrees some = build(choice);
      Layering layering{graph, some.trees, Bundle::Pair};
      const std::optional<unsigned> needed = layering.assign(kMostVls);
      if (needed && *needed <= budget)
        return make_layered_tables(name(), graph, targets, some, layering, *needed);
      if (needed && (!fewest || *needed < *fewest)) fewest = needed;
    }
    return tl::unexpected<Error>(refuse_for_vls(fewest, budget));
  }
};

}  // namespace

const Engine& lash_engine() {
  static const Lash engine;
  return engine;
}

}  // namespace smd

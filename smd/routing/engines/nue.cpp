// Routes on the dependency graph: free of deadlock on however few lanes there are.
#include <algorithm>

#include "smd/routing/engines/engines.h"
#include "smd/routing/nue/kept_trees.h"
#include "smd/routing/nue/lane_sls.h"
#include "smd/routing/nue/single_lane.h"
#include "smd/routing/nue/tree_ways.h"
#include "smd/routing/traffic.h"

namespace smd {
namespace {

class Nue final : public Engine {
 public:
  std::string_view name() const override { return "nue"; }

  std::string_view contract() const override {
    return "Any fabric, any number of VLs from 1 up, one SL per VL. Destinations are shared out to "
           "lanes by neighbourhood; a packet takes the SL of its destination, whoever sends it. On "
           "each lane the routes to one destination switch grow outwards from it as a tree of "
           "shortest ways, but a turn that would close a cycle with those of other trees on the "
           "lane is not let in; so no lane ever has a cycle of dependencies. Nobody is left out: a "
           "spanning tree's turns are let in first, and who finds no other way takes it. As few "
           "lanes as give shortest routes only, else all there are; with eight, most tori, "
           "dragonflies and irregular fabrics have hardly a detour. Where a single lane makes "
           "detours, "
           "destinations that follow each other are not neighbours, the better of two orders is "
           "taken, and then every tree is grown again beside all others at a price that rises with "
           "what links carry. Hosts of one switch and LIDs "
           "of one host are spread over all equally short ways whose turns are free. Given the "
           "routes in force, keeps the tree of every LID that is whole, and of broken ones what "
           "still leads there; a link that comes up takes what it shortens and its share of the "
           "rest, as far as the turns are free. Source: Nue "
           "(Domke, Hoefler, Matsuoka, 2016), with an order of the channels kept up to date "
           "(Pearce, Kelly, 2006) in place of its searches for cycles.";
  }

  Result<RoutingTables> compute(const Fabric& fabric,
                                const LidMap& lids,
                                const RoutingRequest& request) const override {
    const unsigned common = count_common_lanes(fabric);
    const unsigned most = request.max_vls == 0 ? common : std::min(common, request.max_vls);
    const SwitchGraph graph{fabric};
    const Channels channels{graph};
    const std::vector<std::uint32_t> costs = find_link_costs(fabric, graph);
    Targets targets = find_targets(fabric, lids);
    apply_weights(fabric, request.weights, targets);
    // Only this engine's own trees are known to be one per LID, each on one lane.
    if (request.in_force != nullptr && request.in_force->routing->engine == name()) {
      KeptTrees kept{fabric, lids.top, graph, channels, targets, costs, *request.in_force};
      if (auto tables = kept.compute(most)) return std::move(*tables);
    }
    unsigned lanes = 1;
    std::unique_ptr<NuePlanner> plan;
    if (most == 1) {
      plan = plan_single_lane(graph, channels, targets, costs);
    } else {
      plan = std::make_unique<NuePlanner>(graph, channels, targets, costs);
      // Fewer lanes are better where every route is a shortest one on them.
      while (!plan->plan(lanes, lanes < most)) lanes = std::min(2 * lanes, most);
      plan->polish();
    }
    NuePlanner& planner = *plan;
    // Where single hosts leave the trees, they must not fill what was relieved.
    const auto* const load = planner.is_relieved() ? &planner.load() : nullptr;

    RoutingTables result{.engine = "nue", .lft = {fabric.switch_count(), lids.top}};
    Spread spread{graph, targets, costs};
    TreeWays ways{channels};
    GrownTree tree;
    NextHops hops;
    for (unsigned offset = 0; offset < 1u << highest_lmc(targets); ++offset) {
      spread.begin_offset();
      const auto find = [&](SwitchIdx destination) {
        planner.read(destination, tree);
        if (targets.hosts[destination] != 0)
          ways.widen(tree, planner.turns(destination), hops, load);
        else
          ways.list(tree, hops);
      };
      for (const SwitchIdx destination : planner.planned()) {
        find(destination);
        spread.serve(destination, hops, offset, result.lft);
      }
      // Who came first chose without knowing the rest; on several lanes nearly all have choices.
      if (load != nullptr || (lanes == 1 && !spread.is_worth_another_turn())) continue;
      for (const SwitchIdx destination : planner.planned()) {
        find(destination);  // at least the ways of before
        spread.serve_again(destination, hops, offset, result.lft);
      }
    }
    set_lanes(planner, targets, lids.top, result);
    return result;
  }

 private:
  static void set_lanes(const NuePlanner& planner,
                        const Targets& targets,
                        Lid top,
                        RoutingTables& result) {
    std::vector<std::uint8_t> lane_of(top.value() + std::size_t{1}, 0);
    unsigned lanes = 1;
    for (const SwitchIdx destination : planner.planned()) {
      const unsigned lane = planner.lane(destination);
      lanes = std::max(lanes, lane + 1);
      for (const Target& target : targets.of[destination]) {
        const auto first = lane_of.begin() + target.base.value();
        std::fill(
            first, first + (std::ptrdiff_t{1} << target.lmc), static_cast<std::uint8_t>(lane));
      }
    }
    set_lane_sls(targets.of.size(), top, lanes, lane_of, result);
  }
};

}  // namespace

const Engine& nue_engine() {
  static const Nue engine;
  return engine;
}

}  // namespace smd

// Routes on the dependency graph: free of deadlock on however few layers there are.
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "smd/routing/engines/engines.h"
#include "smd/routing/fat_tree/shape.h"
#include "smd/routing/graph/switch_graph.h"
#include "smd/routing/incremental/changes.h"
#include "smd/routing/incremental/entries.h"
#include "smd/routing/nue/planner.h"
#include "smd/routing/nue/tree_growth.h"
#include "smd/routing/nue/turn_record.h"
#include "smd/routing/nue/update.h"
#include "smd/routing/trees/load_balancer.h"
#include "smd/routing/trees/rebalance.h"

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
           "lanes as give shortest routes only, and more, but for one, where losses would find no "
           "turns free on them; else all there are; with eight, most tori, "
           "dragonflies and irregular fabrics have hardly a detour. Where a single lane makes "
           "detours, "
           "destinations that follow each other are not neighbours, the better of two orders is "
           "taken, and then every tree is grown again beside all others at a price that rises with "
           "what links carry. Hosts of one switch and LIDs "
           "of one host are spread over all equally short ways whose turns are free. Given the "
           "routes in force, keeps the lane and the tree of every LID, those of hosts that are "
           "away included, and of broken trees what still leads there; who finds no turn that is "
           "free "
           "takes the spanning tree; a link that comes up takes "
           "what it shortens and its share of the rest, as far as the turns are free. Source: Nue "
           "(Domke, Hoefler, Matsuoka, 2016), with an order of the channels kept up to date "
           "(Pearce, Kelly, 2006) in place of its searches for cycles.";
  }

 private:
  struct Problem {
    Problem(const Fabric& fabric, const LidMap& lids, const RoutingRequest& request)
        : graph(fabric),
          shared_channels(std::make_shared<const Channels>(graph)),
          channels(*shared_channels),
          costs(find_link_costs(fabric, graph)),
          targets(find_targets(fabric, lids)) {
      const unsigned common = count_common_vls(fabric);
      most = request.max_vls == 0 ? common : std::min(common, request.max_vls);
    }

    SwitchGraph graph;
    std::shared_ptr<const Channels> shared_channels;
    const Channels& channels;
    std::vector<std::uint32_t> costs;  // by edge
    Targets targets;
    unsigned most = 1;  // VLs
  };

  std::optional<Result<RoutingTables>> update(const Fabric& fabric,
                                              const LidMap& lids,
                                              const RoutingRequest& request,
                                              const PreviousRoutes& previous) const override {
    const Problem on{fabric, lids, request};
    const auto destinations = list_destinations(on.targets, lids.top);
    if (!are_worth_keeping(destinations,
                           find_new_lids(fabric, lids, previous, destinations),
                           find_rows_before(*previous.fabric, fabric)))
      return std::nullopt;
    for (const bool keeps_unowned : {true, false}) {
      NueUpdate update{fabric,
                       lids,
                       on.graph,
                       on.shared_channels,
                       on.targets,
                       on.costs,
                       previous,
                       keeps_unowned};
      if (auto tables = update.compute(on.most, request.rebalance)) {
        note_directions(lids, *tables);
        return std::move(*tables);
      }
    }
    return std::nullopt;
  }

  Result<RoutingTables> compute_new(const Fabric& fabric,
                                    const LidMap& lids,
                                    const RoutingRequest& request) const override {
    RoutingTables tables = lay_anew(fabric, lids, {fabric, lids, request});
    note_directions(lids, tables);
    return tables;
  }

  /// Of LIDs in different lanes each answers on another SL.
  static void note_directions(const LidMap& lids, RoutingTables& tables) {
    std::optional<std::uint8_t> first;
    for (const TargetLid& served : tables.turns->served) {
      if (lids.owner_of(served.lid) == kNone<PortIdx>) continue;
      if (!first) first = served.layer;
      if (served.layer == *first) continue;
      tables.notes.push_back(fmt::format(
          "{}: each has that of its destination, and an answer on the SL of its request may be on "
          "a VL that was not proved for it",
          kDirectionsDiffer));
      return;
    }
  }

  static RoutingTables lay_anew(const Fabric& fabric, const LidMap& lids, const Problem& on) {
    if (on.most == 1)
      return lay(fabric, lids, on, *plan_single_layer(on.graph, on.channels, on.targets, on.costs));
    // For room alone one VL is left to multicast packets. Trees have room on one.
    const unsigned most_for_room = recognise_fat_tree(fabric) ? 1 : on.most - 1;
    for (unsigned layers = 1;;) {
      NuePlanner plan{on.graph, on.channels, on.targets, on.costs};
      // Fewer layers are better where every route is a shortest one on them, and losses find room.
      const bool planned = plan.plan(layers, layers < on.most);
      if (planned) {
        plan.polish();
        RoutingTables tables = lay(fabric, lids, on, plan);
        if (layers >= most_for_room || tables.turns->leaves_room()) return tables;
      }
      layers = std::min(2 * layers, planned ? most_for_room : on.most);
    }
  }

  static RoutingTables lay(const Fabric& fabric,
                           const LidMap& lids,
                           const Problem& on,
                           NuePlanner& planner) {
    // Where single hosts leave the trees, they must not fill what was rebalanced.
    const auto* const load = planner.is_rebalanced() ? &planner.load() : nullptr;

    RoutingTables result{.engine = "nue", .lft = {fabric.switch_count(), lids.top}};
    LoadBalancer balancer{on.graph, on.targets, on.costs};
    LayerNextHops next_hops{on.channels};
    GrownTree tree;
    std::vector<std::uint64_t> paths(on.channels.size(), 0);
    const auto find = [&](SwitchIdx destination, NextHops& hops) {
      planner.read(destination, tree);
      if (on.targets.hosts[destination] != 0)
        next_hops.widen(tree, planner.turns(destination), hops, load);
      else
        next_hops.list(tree, hops);
    };
    assign_offsets(balancer, on.targets, planner.planned(), result.lft, find, [&](unsigned offset) {
      // On several layers nearly all have choices. What is found again is at least what was before.
      if (load == nullptr && (planner.layer_count() != 1 || balancer.is_worth_second_pass()))
        assign_again(balancer, planner.planned(), offset, result.lft, find);
      for (Channel c = 0; c < paths.size(); ++c) paths[c] += balancer.loads()[c] / on.costs[c];
    });
    const std::vector<std::uint8_t> layer_of = set_layers(planner, on.targets, lids.top, result);
    // Balancing without hosts, switches count.
    if (std::ranges::count(on.targets.hosts, 0u) == std::ssize(on.targets.hosts))
      std::ranges::fill(paths, 0);
    TurnRecord record{.graph = on.graph,
                      .channels = on.shared_channels,
                      .hosts = on.targets.hosts,
                      .tables = result.lft,
                      .served = list_served_lids(on.targets),
                      .layers = {},
                      .paths = std::move(paths)};
    for (TargetLid& lid : record.served) lid.layer = layer_of[lid.lid.value()];
    for (unsigned layer = 0; layer < result.vls; ++layer)
      record.layers.push_back({.order = planner.list_channels(layer),
                               .taken = {},
                               .escape = planner.list_escape_links(layer)});
    result.turns = std::make_shared<const TurnRecord>(std::move(record));
    return even(fabric, lids, on, std::move(result));
  }

  // Destination by destination nobody knows of those that follow; now all are known. Escape trees
  // stay free as long as that does not keep a channel too full.
  static RoutingTables even(const Fabric& fabric,
                            const LidMap& lids,
                            const Problem& on,
                            RoutingTables result) {
    const auto weigh = [&](const RoutingTables& tables) {
      std::vector<std::uint64_t> loads = tables.turns->paths;
      for (Channel c = 0; c < loads.size(); ++c) loads[c] *= on.costs[c];
      return loads;
    };
    const auto needs_more = [&](const RoutingTables& tables) {
      return is_uneven(on.graph, on.targets, on.costs, weigh(tables));
    };
    if (!needs_more(result)) return result;
    const PreviousRoutes all{&fabric, &lids, &result};
    const auto update = [&] {
      return NueUpdate{fabric, lids, on.graph, on.shared_channels, on.targets, on.costs, all};
    };
    auto evened = update().even_from_scratch(on.most);
    if (!evened || needs_more(*evened)) {
      auto freely = update().compute(on.most, true);
      const auto fullest = [&](const RoutingTables& of) { return std::ranges::max(weigh(of)); };
      if (freely && (!evened || fullest(*freely) < fullest(*evened))) evened = std::move(freely);
    }
    if (!evened) return result;
    evened->recomputed.reset();
    return std::move(*evened);
  }

  /// By LID.
  static std::vector<std::uint8_t> set_layers(const NuePlanner& planner,
                                              const Targets& targets,
                                              Lid top,
                                              RoutingTables& result) {
    std::vector<std::uint8_t> layer_of(top.value() + std::size_t{1}, 0);
    unsigned layers = 1;
    for (const SwitchIdx destination : planner.planned()) {
      const unsigned layer = planner.layer(destination);
      layers = std::max(layers, layer + 1);
      for (const Target& target : targets.of[destination]) {
        const auto first = layer_of.begin() + target.base.value();
        std::fill(
            first, first + (std::ptrdiff_t{1} << target.lmc), static_cast<std::uint8_t>(layer));
      }
    }
    set_layer_sls(targets.of.size(), top, layers, layer_of, result);
    return layer_of;
  }
};

}  // namespace

const Engine& nue_engine() {
  static const Nue engine;
  return engine;
}

}  // namespace smd

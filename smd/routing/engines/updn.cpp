// up*/down*, in the two-phase form that a table without input ports allows.
#include <optional>
#include <utility>

#include "smd/routing/engines/engines.h"
#include "smd/routing/fat_tree/shape.h"
#include "smd/routing/graph/switch_graph.h"
#include "smd/routing/incremental/update_up_down.h"
#include "smd/routing/layered/balanced_trees.h"
#include "smd/routing/trees/load_balancer.h"
#include "smd/routing/trees/rebalance.h"
#include "smd/routing/trees/route_trees.h"
#include "smd/routing/updn/orientation.h"
#include "smd/routing/updn/up_down.h"
#include "smd/routing/verify/channel_load.h"
#include "smd/routing/verify/route_measures.h"

namespace smd {
namespace {

// Entries of all switches, up to which several ways are tried: together a quarter of a second.
constexpr std::size_t kMostEntries = 4'000'000;

// Ways whose worth differs by less are as good: the earlier one is taken.
constexpr double kBetter = 0.002;

constexpr MeasureOptions kMeasured{.permutations = 20, .shifts = false};

class UpDown final : public Engine {
 public:
  std::string_view name() const override { return "updn"; }

  std::string_view contract() const override {
    return "up*/down* on any fabric, 1 VL, any SL. Every route climbs zero or more links towards "
           "the root, then descends; whoever can descend does. Of several shortest legal routes "
           "the one whose channel carries fewest paths, then the lowest port. Free of deadlock: "
           "number the channels, climbing ones from the leaves up, then descending ones from the "
           "root down; every route follows rising numbers. Complete: the root reaches everybody "
           "downwards. Not always minimal. From scratch such routes are laid in up to three ways: "
           "each entry over the channel with fewest paths; a tree for every LID over the channels "
           "that carry least all the way; on trees by the modulo rule of ftree. Of those whose "
           "fullest channel carries least, random permutations decide. Given the routes in force, "
           "keeps every entry that "
           "is still legal. Directions come from a breadth-first tree, or from a depth-first one, "
           "which forbids fewer turns on irregular fabrics. Source: the deadlock-free routing of "
           "Autonet, as FERa; depth first: Sancho, Robles and Duato, 2000; a tree for every LID: "
           "Hoefler, Schneider and Lumsdaine 2009.";
  }

 private:
  std::optional<Result<RoutingTables>> update(const Fabric& fabric,
                                              const LidMap& lids,
                                              const RoutingRequest& request,
                                              const PreviousRoutes& previous) const override {
    OrientedFabric oriented = orient_fabric(
        fabric,
        lids,
        request,
        request.previous != nullptr ? request.previous : &previous.routing->orientation);
    auto updated = update_up_down(fabric, lids, oriented, previous, request);
    if (!updated) return choose(fabric, lids, request, oriented, std::nullopt);
    RoutingTables result = begin_tables(name(), std::move(updated->lft), oriented);
    result.recomputed = std::move(updated->recomputed);
    result.load = std::move(updated->load);
    return result;
  }

  Result<RoutingTables> compute_new(const Fabric& fabric,
                                    const LidMap& lids,
                                    const RoutingRequest& request) const override {
    const auto shape = recognise_fat_tree(fabric);
    const bool is_tree = shape && has_directions_of(*shape, fabric, request);
    std::optional<RoutingTables> as_tree;
    bool suffices = false;
    if (is_tree) as_tree = compute_as_tree(fabric, lids, request, suffices);
    if (as_tree && keeps_directions(fabric, lids, *as_tree, request) &&
        (suffices || took_tree_before(fabric, lids, request, *as_tree)))
      return std::move(*as_tree);
    OrientedFabric oriented = orient_fabric(fabric, lids, request, request.previous);
    return choose(fabric, lids, request, oriented, std::move(as_tree));
  }

  // By the LIDs that somebody has, wherever they begin and however sparse they are.
  static bool is_small(const Fabric& fabric, const LidMap& lids) {
    const auto free = static_cast<std::size_t>(std::ranges::count(lids.owner, kNone<PortIdx>));
    return fabric.switch_count() * (lids.owner.size() - free) <= kMostEntries;
  }

  // Nobody wants others: several roots, if there are any, are all switches at the top.
  static bool has_directions_of(const FatTreeShape& tree,
                                const Fabric& fabric,
                                const RoutingRequest& request) {
    const EngineOptions& options = request.options;
    if (options.root_choice != RootChoice::Trial ||
        options.orientation_search != OrientationSearch::BreadthFirst || options.roots.size() == 1)
      return false;
    if (options.roots.empty()) return true;
    for (const SwitchIdx sw : fabric.switch_node.indices()) {
      const Guid guid = fabric.node_guid[fabric.switch_node[sw]];
      const bool is_root = std::ranges::count(options.roots, guid) != 0;
      if (is_root != (tree.level[sw] + 1 == tree.levels.size())) return false;
    }
    return true;
  }

  // Those that the request names, if it names any, as far as its switches are there. Then the
  // tables say which of them could not keep their rank.
  static bool keeps_directions(const Fabric& fabric,
                               const LidMap& lids,
                               RoutingTables& tables,
                               const RoutingRequest& request) {
    if (request.previous == nullptr) return true;
    OrientationResult kept = orient_fabric(fabric, lids, request, request.previous).oriented;
    if (kept.orientation.by_guid != tables.orientation.by_guid) return false;
    tables.altered = std::move(kept.altered);
    return true;
  }

  // The directions that are kept are those of the tree, and would be others by trial: whoever chose
  // from scratch chose the tree, and does so again.
  static bool took_tree_before(const Fabric& fabric,
                               const LidMap& lids,
                               const RoutingRequest& request,
                               const RoutingTables& as_tree) {
    return request.previous != nullptr &&
           orient_fabric(fabric, lids, request, nullptr).oriented.orientation !=
               as_tree.orientation;
  }

  // The best of several ways to lay legal routes: each is worth what everybody to everybody or a
  // random permutation gets of the best that any of them gives, whichever is less. Those with other
  // directions than the ones that are kept count for that alone, so that routes from scratch over
  // the directions of others are the same.
  static RoutingTables choose(const Fabric& fabric,
                              const LidMap& lids,
                              const RoutingRequest& request,
                              OrientedFabric& oriented,
                              std::optional<RoutingTables> as_tree) {
    bool uneven = false;
    RoutingTables spread = compute_all(fabric, lids, oriented, uneven);
    if (uneven) spread = even(fabric, lids, request, oriented, std::move(spread));
    const bool small = is_small(fabric, lids);
    std::vector<RoutingTables> all;
    if (small) {
      RoutingTables gathered = spread;
      const BalancedTrees trees = build_legal_trees(fabric, lids, oriented);
      write_entries(oriented.graph, oriented.targets, trees.trees, trees.plan.of_lid, gathered.lft);
      gathered.load = {};
      all.push_back(even(fabric, lids, request, oriented, std::move(gathered)));
    }
    const bool is_tree_apart = as_tree && !keeps_directions(fabric, lids, *as_tree, request);
    if (as_tree) all.push_back(std::move(*as_tree));
    if (all.empty()) return spread;
    all.insert(all.begin(), std::move(spread));
    std::vector<double> uniform, permutations;
    for (const RoutingTables& each : all) {
      const RouteMeasures measured =
          small ? measure_routes(fabric, lids, each.lft, kMeasured) : RouteMeasures{};
      uniform.push_back(1 / std::max(1.0, measure_load(fabric, lids, each.lft).fullest));
      permutations.push_back(measured.permutations);
    }
    const double most = std::ranges::max(uniform);
    const double best = std::ranges::max(permutations);
    std::size_t chosen = 0;
    double worth = 0;
    for (std::size_t i = 0; i < all.size(); ++i) {
      const double own = std::min(uniform[i] / most, permutations[i] / best);
      if (own < worth + kBetter || (is_tree_apart && i + 1 == all.size())) continue;
      chosen = i;
      worth = own;
    }
    return std::move(all[chosen]);
  }

  // By the modulo rule: the paths to a destination have few channels to themselves, so that those
  // of a shift or of a permutation meet less often than where all are spread over all. They are as
  // good as can be where no channel carries more than it need; on small fabrics only where nothing
  // had to move for that, since there other ways cost little.
  static std::optional<RoutingTables> compute_as_tree(const Fabric& fabric,
                                                      const LidMap& lids,
                                                      const RoutingRequest& request,
                                                      bool& suffices) {
    RoutingRequest anew = request;
    anew.in_force = nullptr;
    auto tree = ftree_engine().compute(fabric, lids, anew);
    if (!tree) return std::nullopt;
    OrientedFabric oriented = orient_fabric(fabric, lids, request, &tree->orientation);
    RoutingTables result = begin_tables("updn", std::move(tree->lft), oriented);
    bool moved = false;
    result = even(fabric, lids, request, oriented, std::move(result), &moved);
    const std::vector<std::uint64_t>& load = result.load.by_edge;  // empty: they weigh differently
    suffices = !load.empty() && !(moved && is_small(fabric, lids)) &&
               !is_uneven(oriented.graph, oriented.targets, oriented.costs, load);
    return result;
  }

  // Destination by destination nobody knows of those that follow; now all are known.
  static RoutingTables even(const Fabric& fabric,
                            const LidMap& lids,
                            const RoutingRequest& request,
                            OrientedFabric& oriented,
                            RoutingTables result,
                            bool* moved = nullptr) {
    const Imbalance before = std::exchange(result.load.imbalance, {});
    oriented.oriented.orientation = result.orientation;
    RoutingRequest evenly = request;
    evenly.rebalance = true;
    auto evened = update_up_down(fabric, lids, oriented, {&fabric, &lids, &result}, evenly);
    result.load.imbalance = before;
    if (!evened) return result;
    result.lft = std::move(evened->lft);
    result.load = std::move(evened->load);
    if (moved != nullptr) *moved = !evened->recomputed.empty();
    return result;
  }

  static OrientedFabric orient_fabric(const Fabric& fabric,
                                      const LidMap& lids,
                                      const RoutingRequest& request,
                                      const Orientation* previous) {
    OrientedFabric oriented{fabric,
                            lids,
                            {.roots = request.options.roots,
                             .previous = previous,
                             .search = request.options.orientation_search,
                             .root_choice = request.options.root_choice}};
    return oriented;
  }

  static RoutingTables compute_all(const Fabric& fabric,
                                   const LidMap& lids,
                                   OrientedFabric& oriented,
                                   bool& uneven) {
    ForwardingTables lft{fabric.switch_count(), lids.top};
    LoadRecord load;
    UpDownSearch search{oriented.up_down};
    LoadBalancer balancer{oriented.graph, oriented.targets, oriented.costs};
    assign_offsets(
        balancer,
        oriented.targets,
        list_served_switches(oriented.targets),
        lft,
        [&](SwitchIdx sw, NextHops& hops) { search.find(sw, hops); },
        [&](unsigned offset) {
          if (offset != 0) return;
          uneven = is_uneven(oriented.graph, oriented.targets, oriented.costs, balancer.loads());
          load = record_legal_loads(oriented,
                                    list_destinations(oriented.targets, lids.top),
                                    {balancer.loads().begin(), balancer.loads().end()});
        });
    RoutingTables result = begin_tables("updn", std::move(lft), oriented);
    result.load = std::move(load);
    return result;
  }
};

}  // namespace

const Engine& updn_engine() {
  static const UpDown engine;
  return engine;
}

}  // namespace smd

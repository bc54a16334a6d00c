// up*/down*, in the two-phase form that a table without input ports allows.
#include <optional>
#include <utility>

#include "smd/routing/engines/engines.h"
#include "smd/routing/graph/switch_graph.h"
#include "smd/routing/incremental/update_up_down.h"
#include "smd/routing/trees/load_balancer.h"
#include "smd/routing/trees/rebalance.h"
#include "smd/routing/updn/orientation.h"
#include "smd/routing/updn/up_down.h"

namespace smd {
namespace {

class UpDown final : public Engine {
 public:
  std::string_view name() const override { return "updn"; }

  std::string_view contract() const override {
    return "up*/down* on any fabric, 1 VL, any SL. Every route climbs zero or more links towards "
           "the root, then descends; whoever can descend does. Of several shortest legal routes "
           "the one whose channel carries fewest paths, then the lowest port. Free of deadlock: "
           "number the channels, climbing ones from the leaves up, then descending ones from the "
           "root down; every route follows rising numbers. Complete: the root reaches everybody "
           "downwards. Not always minimal. Given the routes in force, keeps every entry that "
           "is still legal. Directions come from a breadth-first tree, or from a depth-first one, "
           "which forbids fewer turns on irregular fabrics. Source: the deadlock-free routing of "
           "Autonet, as FERa; depth first: Sancho, Robles and Duato, 2000.";
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
    if (!updated) return compute_evenly(fabric, lids, request, oriented);
    RoutingTables result = begin_tables(name(), std::move(updated->lft), oriented);
    result.recomputed = std::move(updated->recomputed);
    result.load = std::move(updated->load);
    return result;
  }

  Result<RoutingTables> compute_new(const Fabric& fabric,
                                    const LidMap& lids,
                                    const RoutingRequest& request) const override {
    OrientedFabric oriented = orient_fabric(fabric, lids, request, request.previous);
    return compute_evenly(fabric, lids, request, oriented);
  }

  static RoutingTables compute_evenly(const Fabric& fabric,
                                      const LidMap& lids,
                                      const RoutingRequest& request,
                                      OrientedFabric& oriented) {
    bool uneven = false;
    RoutingTables result = compute_all(fabric, lids, oriented, uneven);
    if (!uneven) return result;
    // Destination by destination nobody knows of those that follow; now all are known.
    const Imbalance before = std::exchange(result.load.imbalance, {});
    oriented.oriented.orientation = result.orientation;
    RoutingRequest evenly = request;
    evenly.rebalance = true;
    auto evened = update_up_down(fabric, lids, oriented, {&fabric, &lids, &result}, evenly);
    result.load.imbalance = before;
    if (!evened) return result;
    result.lft = std::move(evened->lft);
    result.load = std::move(evened->load);
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

// Shortest paths that change VLs where up*/down* would forbid them: in-transit buffers, with a
// VL in the place of the buffer.
#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "smd/routing/engines/engines.h"
#include "smd/routing/graph/switch_graph.h"
#include "smd/routing/incremental/changes.h"
#include "smd/routing/incremental/entries.h"
#include "smd/routing/itb_vl/vl_tables.h"
#include "smd/routing/nue/paths_of_switches.h"
#include "smd/routing/updn/orientation.h"

namespace smd {
namespace {

constexpr std::string_view kName = "itb-vl";
constexpr std::size_t kMostSwitches = 2048;

class ItbVl final : public Engine {
 public:
  std::string_view name() const override { return kName; }

  bool takes_path_sets() const override { return true; }

  std::string_view contract() const override {
    return "Shortest paths, evenly spread, on any fabric of up to 2,048 switches: the form of "
           "in-transit buffers that a table without input ports allows. A packet starts on VL 0 "
           "and goes up one VL at each cut, a turn from down to up of a breadth-first or "
           "depth-first orientation, or one that would close a cycle on its VL. At most 1 + "
           "(diameter - 1) / 2 VLs, rounded up, and 16 SLs, the same in both directions of a pair "
           "of switches; unused entries of SL-to-VL maps discard. Where SLs do not suffice: whole "
           "paths on one VL each, then paths with fewest cuts, then up*/down* to at most half of "
           "the switches; then refused. Free of deadlock: along a path the VL never falls, and on "
           "one VL only turns without cycles are taken. Where there are switches without hosts and "
           "no odd rings of switches, as in fat trees, and paths of hosts close no cycle without a "
           "change of VLs, all go on VL 0, every LID by a tree of its own: paths to such switches "
           "may be longer, and a note says so. Given routes in force, keeps what is still "
           "a shortest path, SLs, and entries of hosts that are away. Source: Flich's thesis, "
           "2001, chapters 3 and 4.";
  }

 private:
  std::optional<Result<RoutingTables>> update(const Fabric& fabric,
                                              const LidMap& lids,
                                              const RoutingRequest& request,
                                              const PreviousRoutes& previous) const override {
    if (auto updated = update_on_one_vl(name(), fabric, lids, request)) return std::move(*updated);
    if (previous.routing->turns != nullptr) return std::nullopt;
    const bool fits = request.max_vls == 0 || previous.routing->vls <= request.max_vls;
    if (fits && !request.rebalance && only_hosts_left(fabric, lids, previous)) {
      RoutingTables same = *previous.routing;
      same.chosen_by.clear();
      same.candidates.clear();
      // Of options the caller notes again what has no effect.
      std::erase_if(same.notes, [](const std::string& note) { return note.starts_with("sm."); });
      same.recomputed.emplace();
      return same;
    }
    return route(fabric, lids, request, &previous);
  }

  // Or came back to entries that are still there: nobody else moves for them.
  static bool only_hosts_left(const Fabric& fabric,
                              const LidMap& lids,
                              const PreviousRoutes& previous) {
    const ForwardingTables& lft = previous.routing->lft;
    const SwitchGraph graph{fabric};
    const Targets targets = find_targets(fabric, lids);
    if (lids.top > lft.top() || lft.switches() != fabric.switch_count()) return false;
    const auto rows = find_rows_before(*previous.fabric, fabric);
    for (const SwitchIdx sw : rows.indices()) {
      if (rows[sw] != sw) return false;
    }
    if (find_port_changes(*previous.fabric, fabric, graph).any()) return false;
    const auto destinations = list_destinations(targets, lids.top);
    const std::vector<char> fresh = find_new_lids(fabric, lids, previous, destinations);
    bool differs = false;
    for (std::uint32_t value = 1; value < fresh.size(); ++value) {
      const Lid lid{static_cast<std::uint16_t>(value)};
      differs = differs || fresh[value] ||
                (lids.owner_of(lid) == kNone<PortIdx>) !=
                    (previous.lids->owner_of(lid) == kNone<PortIdx>);
      if (fresh[value] && !lead_to(destinations[value], lid, graph, lft)) return false;
    }
    return differs || lids.top < previous.lids->top;
  }

  static bool lead_to(const Destination& to,
                      Lid lid,
                      const SwitchGraph& graph,
                      const ForwardingTables& lft) {
    if (lft.route(to.last, lid) != to.egress) return false;
    const auto distance = compute_distances(graph, {&to.last, 1});
    for (const SwitchIdx sw : distance.indices()) {
      if (sw == to.last || distance[sw] == kUnreached) continue;
      const auto edges = graph.edges(sw);
      const auto edge = std::ranges::find(edges, lft.route(sw, lid), &SwitchEdge::port);
      if (edge == edges.end() || distance[edge->to] >= distance[sw]) return false;
    }
    return true;
  }

  Result<RoutingTables> compute_new(const Fabric& fabric,
                                    const LidMap& lids,
                                    const RoutingRequest& request) const override {
    if (fabric.switch_count() <= kMostSwitches) {
      if (auto tables = lay_tree_on_one_vl(name(), fabric, lids, request))
        return std::move(*tables);
    }
    return route(fabric, lids, request, nullptr);
  }

  // `in_force`: null for tables from scratch.
  static Result<RoutingTables> route(const Fabric& fabric,
                                     const LidMap& lids,
                                     const RoutingRequest& request,
                                     const PreviousRoutes* in_force) {
    if (fabric.switch_count() > kMostSwitches) {
      return fail(
          Errc::Unsupported,
          fmt::format(
              "itb-vl: {} switches; it takes up to {}", fabric.switch_count(), kMostSwitches));
    }
    OrientedFabric oriented{fabric,
                            lids,
                            {.roots = request.options.roots,
                             .previous = request.previous == nullptr && in_force != nullptr
                                             ? &in_force->routing->orientation
                                             : request.previous,
                             .search = request.options.lane_cut == VlChangeRule::DepthFirst
                                           ? OrientationSearch::DepthFirst
                                           : OrientationSearch::BreadthFirst,
                             .root_choice = request.options.root_choice}};
    const SwitchGraph simple = oriented.graph.without_parallels();
    const UpDownGraph up_down{simple, oriented.oriented.orientation.rank, oriented.guids};
    const Demand demand = find_demand(oriented.targets);
    const ParallelLinks links{oriented.graph, simple, find_link_costs(fabric, oriented.graph)};
    const std::vector<std::uint32_t> costs = links.sum_costs();
    const ItbVlWriting what{.fabric = fabric,
                            .graph = simple,
                            .links = links,
                            .targets = oriented.targets,
                            .demand = demand};
    const unsigned offsets = 1u << highest_lmc(oriented.targets);
    std::optional<PreviousVls> previous;
    if (in_force != nullptr) previous = find_previous_vls(what, *in_force, offsets);
    const unsigned vls = request.max_vls == 0 ? count_common_vls(fabric) : request.max_vls;
    auto plan = plan_vls({.graph = simple,
                          .oriented = up_down,
                          .demand = demand,
                          .costs = costs,
                          .cut = request.options.lane_cut,
                          .max_vls = std::min(vls, 15u),
                          .max_sls = std::min(request.max_sls, kSls),
                          .vl_changes = request.vl_changes,
                          .offsets = offsets,
                          .previous = previous ? &*previous : nullptr});
    if (!plan) return tl::unexpected(plan.error());

    const Lid top =
        in_force == nullptr ? lids.top : std::max(lids.top, in_force->routing->lft.top());
    RoutingTables result = begin_tables(kName, {fabric.switch_count(), top}, oriented);
    // Routes do not obey the directions, which are kept for the next computation only.
    result.orientation.rank.clear();
    write_routes(what, *plan, in_force, result.lft);
    write_vls(what, *plan, result);
    result.load.imbalance = plan->imbalance;
    for (std::string& note : plan->notes) result.notes.push_back(std::move(note));
    if (in_force != nullptr) {
      keep_unowned_lids(what, *plan, lids, *in_force, result);
      result.recomputed = list_changed(fabric, result.lft, *in_force);
    }
    return result;
  }
};

}  // namespace

const Engine& itb_vl_engine() {
  static const ItbVl engine;
  return engine;
}

}  // namespace smd

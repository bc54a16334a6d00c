#include "smd/routing/keep/even_shortest.h"

#include <algorithm>
#include <utility>

#include "smd/routing/keep/load_aim.h"
#include "smd/routing/keep/load_change.h"
#include "smd/routing/keep/relief.h"
#include "smd/routing/keep/shortest_loads.h"
#include "smd/routing/spread.h"

namespace smd {
namespace {

// Following so many paths takes about as long as counting all.
constexpr std::size_t kManyChanges = 16;

// Loads are handed on where they are the same for everybody: one LID per port, links of one speed.
bool are_plain(const Targets& targets, const std::vector<std::uint32_t>& costs) {
  return highest_lmc(targets) == 0 &&
         std::ranges::all_of(costs, [](std::uint32_t cost) { return cost == 1; });
}

Traffic sum_traffic(const ShortestTables& routes, const Entries& entries, const LftTrees& trees) {
  Traffic traffic{.sources = IndexVector<SwitchIdx, std::uint32_t>(routes.graph.switches(), 0),
                  .draws = IndexVector<SwitchIdx, std::uint64_t>(routes.graph.switches(), 0)};
  for (const SwitchIdx sw : traffic.sources.indices()) traffic.sources[sw] = entries.own_paths(sw);
  for (std::uint32_t tree = 0; tree < trees.count(); ++tree)
    traffic.draws[trees.root(tree)] += trees.draws(tree);
  return traffic;
}

std::vector<std::uint64_t> find_loads(const IndexVector<SwitchIdx, Guid>& guids,
                                      const ShortestTables& routes,
                                      const TablesInForce& before,
                                      const Traffic& traffic,
                                      const Entries& entries,
                                      unsigned offset) {
  const LoadRecord& known = before.routing.load;
  if (!known.by_edge.empty() && known.by_edge.size() == before.graph.edge_count() &&
      are_plain(routes.targets, routes.costs) &&
      known.basis == compute_load_basis(guids, routes.targets, routes.destinations)) {
    LoadChange change{{before.graph, before.routing.lft},
                      {routes.graph, routes.tables},
                      before.changes,
                      traffic.sources,
                      routes.destinations};
    const std::vector<Entries::Change> changed = entries.list_changes();
    const std::size_t all = routes.graph.switches() * routes.destinations.size();
    if (change.is_known() && changed.size() * kManyChanges < all)
      return change.apply(known.by_edge, changed);
  }
  return count_shortest_loads(routes.graph,
                              routes.targets,
                              traffic.sources,
                              routes.costs,
                              routes.destinations,
                              routes.tables,
                              offset);
}

}  // namespace

LoadRecord even_shortest(const IndexVector<SwitchIdx, Guid>& guids,
                         const ShortestTables& routes,
                         const TablesInForce& before,
                         Entries& entries) {
  LoadRecord after;
  const Evenness& goal = before.routing.load.evenness;
  // Hosts that come and go move nobody else, and are not worth counting everybody.
  if (!before.changes.any()) {
    const bool same =
        entries.list_changes().empty() &&
        before.routing.load.basis == compute_load_basis(guids, routes.targets, routes.destinations);
    return same ? before.routing.load : LoadRecord{.evenness = goal};
  }
  for (unsigned offset = 0; offset < 1u << highest_lmc(routes.targets); ++offset) {
    LftTrees trees{routes.graph,
                   routes.targets,
                   routes.destinations,
                   routes.tables,
                   entries,
                   {before.routing.lft, before.changes.before},
                   offset};
    const Traffic traffic = sum_traffic(routes, entries, trees);
    std::vector<std::uint64_t> load = find_loads(guids, routes, before, traffic, entries, offset);
    const LoadAim aim =
        find_load_aim(find_least_peak(routes.graph, traffic, routes.costs, load), goal, load);
    Relief relief{routes.graph, traffic.sources, routes.costs, load, trees};
    relief.run(aim);
    const Evenness reached = carry_evenness(goal, load);
    if (reached.peak > after.evenness.peak) after.evenness = reached;
    if (offset != 0 || !are_plain(routes.targets, routes.costs)) continue;
    after.by_edge = std::move(load);
    after.basis = compute_load_basis(guids, routes.targets, routes.destinations);
  }
  return after;
}

LoadRecord record_loads(const IndexVector<SwitchIdx, Guid>& guids,
                        const Targets& targets,
                        const std::vector<std::uint32_t>& costs,
                        const std::vector<Destination>& destinations,
                        std::vector<std::uint64_t> load) {
  LoadRecord record{.evenness = measure_evenness(load)};
  if (!are_plain(targets, costs)) return record;
  record.by_edge = std::move(load);
  record.basis = compute_load_basis(guids, targets, destinations);
  return record;
}

}  // namespace smd

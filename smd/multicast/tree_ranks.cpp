#include "smd/multicast/tree_ranks.h"

#include <algorithm>
#include <utility>

#include "smd/routing/orientation.h"
#include "smd/routing/orientation_repair.h"
#include "smd/routing/switch_graph.h"

namespace smd {
namespace {

/// Whether every host switch of the island lies below `top`.
bool covers(const UpDownGraph& graph,
            SwitchIdx top,
            const std::vector<SwitchIdx>& island,
            const Targets& targets) {
  IndexVector<SwitchIdx, char> seen(targets.hosts.size(), 0);
  std::vector<SwitchIdx> queue{top};
  seen[top] = 1;
  for (std::size_t at = 0; at < queue.size(); ++at) {
    for (const UpDownGraph::Way& way : graph.down(queue[at])) {
      if (std::exchange(seen[way.to], 1) == 0) queue.push_back(way.to);
    }
  }
  return std::ranges::all_of(island,
                             [&](SwitchIdx sw) { return targets.hosts[sw] == 0 || seen[sw] != 0; });
}

/// Ranks by distance from the hosts; empty where no switch stands above all hosts of its island.
IndexVector<SwitchIdx, std::uint32_t> rank_by_hosts(const SwitchGraph& graph,
                                                    const IndexVector<SwitchIdx, Guid>& guids,
                                                    const Targets& targets) {
  std::vector<SwitchIdx> leaves;
  for (const SwitchIdx sw : guids.indices()) {
    if (targets.hosts[sw] > 0) leaves.push_back(sw);
  }
  IndexVector<SwitchIdx, std::uint32_t> rank = compute_distances(graph, leaves);
  std::uint32_t highest = 0;
  for (const std::uint32_t distance : rank) {
    if (distance != kUnreached) highest = std::max(highest, distance);
  }
  for (const SwitchIdx sw : guids.indices())
    rank[sw] = rank[sw] == kUnreached ? highest : highest - rank[sw];
  const UpDownGraph up_down(graph, rank, guids);
  for (const std::vector<SwitchIdx>& island : find_islands(graph)) {
    const bool covered = std::ranges::any_of(island, [&](SwitchIdx sw) {
      return up_down.up(sw).empty() && covers(up_down, sw, island, targets);
    });
    if (!covered) return {};
  }
  return rank;
}

}  // namespace

TreeRanks choose_ranks(const Fabric& fabric,
                       const LidMap& lids,
                       const RoutingTables& routing,
                       const Orientation& previous) {
  if (routing.orientation.rank.size() == fabric.switch_count() && fabric.switch_count() > 0)
    return {.rank = routing.orientation.rank, .of_unicast = true, .kept = {}};
  const SwitchGraph graph(fabric);
  const IndexVector<SwitchIdx, Guid> guids = list_switch_guids(fabric);
  const Targets targets = find_targets(fabric, lids);
  if (auto rank = rank_by_hosts(graph, guids, targets); !rank.empty())
    return {.rank = std::move(rank), .of_unicast = false, .kept = {}};
  OrientationResult ours = orient(graph,
                                  guids,
                                  targets,
                                  {.roots = {},
                                   .previous = previous.by_guid.empty() ? nullptr : &previous,
                                   .root_choice = RootChoice::Central});
  IndexVector<SwitchIdx, std::uint32_t> rank = ours.orientation.rank;
  return {.rank = std::move(rank), .of_unicast = false, .kept = std::move(ours.orientation)};
}

}  // namespace smd

#include "smd/multicast/tree.h"

#include <algorithm>
#include <utility>

#include "smd/routing/graph/switch_graph.h"
#include "smd/routing/updn/islands.h"
#include "smd/routing/updn/orientation.h"

namespace smd {
namespace {

/// One tree with its branches numbered as they stand in it.
struct Numbered {
  Numbered(const Fabric& fabric, const Tree& tree) : parent(tree.branches.size(), kRoot) {
    for (std::uint32_t i = 0; i < tree.branches.size(); ++i) {
      const PortIdx up = tree.branches[i].up;
      if (up == kNone<PortIdx>) continue;
      parent[i] = find(tree, fabric.switch_at(fabric.peer[up]));
    }
    // Children before their parents: leaves are taken away one after the other.
    std::vector<std::uint32_t> children(parent.size(), 0);
    for (const std::uint32_t p : parent) {
      if (p != kRoot) ++children[p];
    }
    for (std::uint32_t i = 0; i < parent.size(); ++i) {
      if (children[i] == 0) upwards.push_back(i);
    }
    for (std::size_t at = 0; at < upwards.size(); ++at) {
      const std::uint32_t p = parent[upwards[at]];
      if (p != kRoot && --children[p] == 0) upwards.push_back(p);
    }
  }

  static std::uint32_t find(const Tree& tree, SwitchIdx sw) {
    const auto at = std::ranges::lower_bound(tree.branches, sw, {}, &Branch::sw);
    return at == tree.branches.end() || at->sw != sw
               ? kRoot
               : static_cast<std::uint32_t>(at - tree.branches.begin());
  }

  static constexpr std::uint32_t kRoot = 0xffffffff;

  std::vector<std::uint32_t> parent;   // by branch
  std::vector<std::uint32_t> upwards;  // all branches
};

/// Adapters that send no data join groups as others do.
bool may_have_members(const Targets& targets, SwitchIdx sw) {
  return std::ranges::any_of(targets.of[sw], &Target::host);
}

/// Whether every switch of the island with adapters lies below `top`.
bool covers(const UpDownGraph& graph,
            SwitchIdx top,
            const std::vector<SwitchIdx>& island,
            const Targets& targets) {
  IndexVector<SwitchIdx, char> seen(targets.hosts.size(), 0);
  std::vector<SwitchIdx> queue{top};
  seen[top] = 1;
  for (std::size_t at = 0; at < queue.size(); ++at) {
    for (const UpDownGraph::Link& step : graph.down(queue[at])) {
      if (std::exchange(seen[step.to], 1) == 0) queue.push_back(step.to);
    }
  }
  return std::ranges::all_of(
      island, [&](SwitchIdx sw) { return !may_have_members(targets, sw) || seen[sw] != 0; });
}

/// Ranks by distance from the adapters; empty where no switch stands above all of its island.
IndexVector<SwitchIdx, std::uint32_t> rank_by_adapters(const SwitchGraph& graph,
                                                       const IndexVector<SwitchIdx, Guid>& guids,
                                                       const Targets& targets) {
  std::vector<SwitchIdx> leaves;
  for (const SwitchIdx sw : guids.indices()) {
    if (may_have_members(targets, sw)) leaves.push_back(sw);
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

PortIdx find_only_sender(const std::vector<TreeMember>& members) {
  const auto sender = std::ranges::find(members, true, &TreeMember::sends);
  if (members.size() < 2 || sender == members.end() || sender->receives ||
      std::ranges::find(sender + 1, members.end(), true, &TreeMember::sends) != members.end())
    return kNone<PortIdx>;
  return sender->port;
}

std::vector<SwitchMask> compute_masks(const Fabric& fabric,
                                      const Tree& tree,
                                      const std::vector<TreeMember>& members) {
  const Numbered numbered(fabric, tree);
  std::vector<SwitchMask> masks;
  masks.reserve(tree.branches.size());
  for (const Branch& branch : tree.branches) masks.push_back({branch.sw, {}});

  struct Count {
    std::uint32_t receivers = 0;
    std::uint32_t senders = 0;
  };

  std::vector<Count> below(masks.size());  // at the switch or under it
  Count all;
  for (const TreeMember& member : members) {
    const PortIdx entry = entry_of(fabric, member.port);
    if (entry == kNone<PortIdx>) continue;
    const auto at = Numbered::find(tree, fabric.switch_at(entry));
    if (at == Numbered::kRoot) continue;
    if (member.receives) masks[at].ports.set(fabric.number_of(entry));
    for (Count* each : {&below[at], &all}) {
      each->receivers += member.receives ? 1 : 0;
      each->senders += member.sends ? 1 : 0;
    }
  }
  for (const std::uint32_t i : numbered.upwards) {
    const std::uint32_t p = numbered.parent[i];
    if (p == Numbered::kRoot) continue;
    const Count here = below[i];
    below[p].receivers += here.receivers;
    below[p].senders += here.senders;
    const PortIdx up = tree.branches[i].up;
    if (here.senders > 0 && here.receivers < all.receivers)
      masks[i].ports.set(fabric.number_of(up));
    if (here.receivers > 0 && here.senders < all.senders)
      masks[p].ports.set(fabric.number_of(fabric.peer[up]));
  }
  std::erase_if(masks, [](const SwitchMask& mask) { return !mask.ports.any(); });
  return masks;
}

TreeRanks choose_ranks(const Fabric& fabric,
                       const LidMap& lids,
                       const RoutingTables& routing,
                       const Orientation& previous) {
  if (routing.orientation.rank.size() == fabric.switch_count() && fabric.switch_count() > 0)
    return {.rank = routing.orientation.rank, .of_unicast = true, .kept = {}};
  const SwitchGraph graph(fabric);
  const IndexVector<SwitchIdx, Guid> guids = list_switch_guids(fabric);
  const Targets targets = find_targets(fabric, lids);
  if (auto rank = rank_by_adapters(graph, guids, targets); !rank.empty())
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

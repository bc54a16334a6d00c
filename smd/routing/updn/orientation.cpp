#include "smd/routing/updn/orientation.h"

#include <fmt/format.h>
#include <algorithm>
#include <set>
#include <utility>

#include "smd/routing/graph/switch_graph.h"
#include "smd/routing/updn/islands.h"
#include "smd/routing/updn/root_choice.h"

namespace smd {
namespace {

class Orienter {
 public:
  Orienter(const SwitchGraph& graph,
           const IndexVector<SwitchIdx, Guid>& guids,
           const Targets& targets,
           const OrientationRequest& request)
      : graph_(graph),
        guids_(guids),
        targets_(targets),
        request_(request),
        rank_(guids.size(), kUnreached) {}

  OrientationResult run() {
    const std::vector<std::vector<SwitchIdx>> islands = find_islands(graph_);
    const IndexVector<SwitchIdx, std::uint32_t> known = look_up_previous();
    name_missing_roots();
    for (const std::vector<SwitchIdx>& island : islands) {
      const bool any_known = std::any_of(
          island.begin(), island.end(), [&](SwitchIdx sw) { return known[sw] != kUnreached; });
      if (!any_known) {
        rank_fresh(island);
        continue;
      }
      for (const SwitchIdx sw : island) rank_[sw] = known[sw];
      rank_new_switches(island);
      for (const SwitchIdx sw : repair_orientation(graph_, guids_, island, rank_)) {
        if (known[sw] != kUnreached) out_.altered.push_back(guids_[sw]);
      }
    }
    std::sort(out_.altered.begin(), out_.altered.end());
    out_.orientation = make_orientation(guids_, std::move(rank_));
    return std::move(out_);
  }

 private:
  IndexVector<SwitchIdx, std::uint32_t> look_up_previous() const {
    IndexVector<SwitchIdx, std::uint32_t> known(guids_.size(), kUnreached);
    if (request_.previous == nullptr) return known;
    const auto& by_guid = request_.previous->by_guid;
    for (const SwitchIdx sw : guids_.indices()) {
      const auto found = std::lower_bound(
          by_guid.begin(), by_guid.end(), guids_[sw], [](const auto& entry, Guid guid) {
            return entry.first < guid;
          });
      if (found != by_guid.end() && found->first == guids_[sw]) known[sw] = found->second;
    }
    return known;
  }

  void name_missing_roots() {
    std::set<Guid> here(guids_.begin(), guids_.end());
    for (const Guid root : request_.roots) {
      if (!here.contains(root))
        out_.notes.push_back(fmt::format("root {} is no switch of this fabric", root));
    }
  }

  void rank_fresh(const std::vector<SwitchIdx>& island) {
    std::vector<SwitchIdx> roots;
    for (const SwitchIdx sw : island) {
      if (std::find(request_.roots.begin(), request_.roots.end(), guids_[sw]) !=
          request_.roots.end())
        roots.push_back(sw);
    }
    if (request_.search == OrientationSearch::DepthFirst) {
      rank_depth_first(graph_, guids_, island, roots.empty() ? island : roots, rank_);
      return;
    }
    if (!roots.empty()) {
      rank_from(island, roots);
      if (find_tops(graph_, guids_, island, rank_).size() == 1) return;
    }
    const SwitchIdx root = request_.root_choice == RootChoice::Central
                               ? find_central(graph_, guids_, island)
                               : choose_root(graph_, guids_, targets_, island);
    rank_from(island, {root});
    if (!roots.empty()) rank_below(island, roots);
  }

  // All roots on the top level, unless the traffic flows better as it is ranked now.
  void rank_below(const std::vector<SwitchIdx>& island, const std::vector<SwitchIdx>& roots) {
    const IndexVector<SwitchIdx, std::uint32_t> distance = compute_distances(graph_, roots);
    std::uint32_t farthest = 0;
    for (const SwitchIdx sw : island) farthest = std::max(farthest, distance[sw]);
    IndexVector<SwitchIdx, std::uint32_t> level(guids_.size(), 0);
    for (const SwitchIdx sw : island) level[sw] = farthest - distance[sw];
    const auto below = rank_by_levels(graph_, guids_, targets_.hosts, level);
    if (!flows_as_well(graph_, guids_, targets_, island, below, rank_)) {
      out_.notes.push_back(
          fmt::format("with the {} roots given on one level traffic would flow less evenly than "
                      "from one switch chosen by trial, which is taken instead",
                      roots.size()));
      return;
    }
    for (const SwitchIdx sw : island) rank_[sw] = below[sw];
  }

  void rank_from(const std::vector<SwitchIdx>& island, const std::vector<SwitchIdx>& roots) {
    const IndexVector<SwitchIdx, std::uint32_t> distance = compute_distances(graph_, roots);
    for (const SwitchIdx sw : island) rank_[sw] = distance[sw];
  }

  // One layer of new switches after the other, so that the result does not depend on their order.
  void rank_new_switches(const std::vector<SwitchIdx>& island) {
    for (bool more = true; more;) {
      std::vector<std::pair<SwitchIdx, std::uint32_t>> layer;
      for (const SwitchIdx sw : island) {
        if (rank_[sw] != kUnreached) continue;
        std::uint32_t best = kUnreached;
        for (const SwitchEdge& edge : graph_.edges(sw)) best = std::min(best, rank_[edge.to]);
        if (best != kUnreached) layer.emplace_back(sw, best + 1);
      }
      for (const auto& [sw, rank] : layer) rank_[sw] = rank;
      more = !layer.empty();
    }
  }

  const SwitchGraph& graph_;
  const IndexVector<SwitchIdx, Guid>& guids_;
  const Targets& targets_;
  const OrientationRequest& request_;
  IndexVector<SwitchIdx, std::uint32_t> rank_;
  OrientationResult out_;
};

bool is_above(const Fabric& fabric, const Orientation& orientation, SwitchIdx a, SwitchIdx b) {
  if (orientation.rank[a] != orientation.rank[b]) return orientation.rank[a] < orientation.rank[b];
  return fabric.node_guid[fabric.switch_node[a]] < fabric.node_guid[fabric.switch_node[b]];
}

}  // namespace

Orientation make_orientation(const IndexVector<SwitchIdx, Guid>& guids,
                             IndexVector<SwitchIdx, std::uint32_t> rank) {
  Orientation out{.rank = std::move(rank)};
  for (const SwitchIdx sw : guids.indices()) out.by_guid.emplace_back(guids[sw], out.rank[sw]);
  std::sort(out.by_guid.begin(), out.by_guid.end());
  return out;
}

OrientationResult orient(const SwitchGraph& graph,
                         const IndexVector<SwitchIdx, Guid>& guids,
                         const Targets& targets,
                         const OrientationRequest& request) {
  return Orienter{graph, guids, targets, request}.run();
}

std::vector<PortNum> find_up_ports(const Fabric& fabric,
                                   const Orientation& orientation,
                                   SwitchIdx sw) {
  std::vector<PortNum> up;
  for (const PortIdx port : fabric.external_ports(fabric.switch_node[sw])) {
    if (fabric.peer[port] == kNone<PortIdx>) continue;
    const SwitchIdx neighbour = fabric.switch_at(fabric.peer[port]);
    if (neighbour == kNone<SwitchIdx> || neighbour == sw ||
        !is_above(fabric, orientation, neighbour, sw))
      continue;
    up.push_back(fabric.number_of(port));
  }
  return up;
}

std::vector<ForbiddenTurn> find_forbidden_turns(const Fabric& fabric,
                                                const Orientation& orientation) {
  std::vector<ForbiddenTurn> turns;
  for (const SwitchIdx sw : fabric.switch_node.indices()) {
    const std::vector<PortNum> up = find_up_ports(fabric, orientation, sw);
    for (const PortNum in : up) {
      for (const PortNum out : up) {
        if (in != out) turns.push_back({.sw = sw, .in = in, .out = out});
      }
    }
  }
  return turns;
}

OrientedFabric::OrientedFabric(const Fabric& fabric,
                               const LidMap& lids,
                               std::span<const Guid> roots,
                               const Orientation* previous)
    : OrientedFabric(fabric, lids, {.roots = roots, .previous = previous}) {}

OrientedFabric::OrientedFabric(const Fabric& fabric,
                               const LidMap& lids,
                               const OrientationRequest& request)
    : graph(fabric),
      costs(find_link_costs(fabric, graph)),
      targets(find_targets(fabric, lids)),
      guids(list_switch_guids(fabric)),
      oriented(orient(graph, guids, targets, request)),
      up_down(graph, oriented.orientation.rank, guids) {}

std::vector<Guid> roots_or_manager(const Fabric& fabric, const RoutingRequest& request) {
  if (!request.options.roots.empty() || fabric.sm_port == kNone<PortIdx>)
    return request.options.roots;
  NodeIdx node = fabric.node_of[fabric.sm_port];
  if (!fabric.is_switch(node)) {
    if (fabric.peer[fabric.sm_port] == kNone<PortIdx>) return {};
    node = fabric.node_of[fabric.peer[fabric.sm_port]];
  }
  if (!fabric.is_switch(node)) return {};
  return {fabric.node_guid[node]};
}

RoutingTables begin_tables(std::string_view engine,
                           ForwardingTables lft,
                           OrientedFabric& oriented) {
  return {.engine = std::string{engine},
          .lft = std::move(lft),
          .orientation = std::move(oriented.oriented.orientation),
          .altered = std::move(oriented.oriented.altered),
          .notes = std::move(oriented.oriented.notes)};
}

}  // namespace smd

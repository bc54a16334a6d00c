#include "smd/routing/updn/orientation.h"

#include <fmt/format.h>
#include <algorithm>
#include <set>
#include <utility>

#include "smd/routing/graph/switch_graph.h"
#include "smd/routing/updn/orientation_repair.h"
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
    for (const SwitchIdx sw : guids_.indices())
      out_.orientation.by_guid.emplace_back(guids_[sw], rank_[sw]);
    std::sort(out_.altered.begin(), out_.altered.end());
    std::sort(out_.orientation.by_guid.begin(), out_.orientation.by_guid.end());
    out_.orientation.rank = std::move(rank_);
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
      const std::size_t tops = find_tops(graph_, guids_, island, rank_).size();
      if (tops == 1) return;
      out_.notes.push_back(
          fmt::format("the roots given leave {} switches without an up link, which could not reach "
                      "each other; the root is chosen by trial instead",
                      tops));
    }
    const SwitchIdx root = request_.root_choice == RootChoice::Central
                               ? find_central(graph_, guids_, island)
                               : choose_root(graph_, guids_, targets_, island);
    rank_from(island, {root});
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

}  // namespace

OrientationResult orient(const SwitchGraph& graph,
                         const IndexVector<SwitchIdx, Guid>& guids,
                         const Targets& targets,
                         const OrientationRequest& request) {
  return Orienter{graph, guids, targets, request}.run();
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

#include "smd/routing/keep/port_changes.h"

#include <algorithm>

namespace smd {
namespace {

struct FarEnd {
  Guid node;
  PortNum port;
  bool up = false;

  friend bool operator==(const FarEnd&, const FarEnd&) = default;
};

}  // namespace

PortChanges find_port_changes(const Fabric& before,
                              const Orientation& orientation_before,
                              const Fabric& now,
                              const OrientedFabric& oriented) {
  PortChanges changes;
  changes.before.resize(now.switch_count(), kNone<SwitchIdx>);
  changes.suspect.resize(now.switch_count());
  IndexVector<SwitchIdx, Guid> guids_before;
  for (const NodeIdx node : before.switch_node) guids_before.push_back(before.node_guid[node]);
  IndexVector<SwitchIdx, std::uint32_t> rank_before(before.switch_count(), kUnreached);
  for (const SwitchIdx sw : guids_before.indices()) {
    const auto& known = orientation_before.by_guid;
    const auto found = std::lower_bound(
        known.begin(), known.end(), guids_before[sw], [](const auto& entry, Guid guid) {
          return entry.first < guid;
        });
    if (found != known.end() && found->first == guids_before[sw]) rank_before[sw] = found->second;
  }
  const SwitchGraph graph_before{before};
  const UpDownGraph up_down_before{graph_before, rank_before, guids_before};

  // By port number; an empty GUID where no switch is.
  std::array<FarEnd, 256> were, are;
  const auto list_far_ends = [](const SwitchGraph& graph,
                                const UpDownGraph& up_down,
                                const IndexVector<SwitchIdx, Guid>& guids,
                                SwitchIdx sw,
                                std::array<FarEnd, 256>& ends) {
    ends.fill({});
    for (const SwitchEdge& edge : graph.edges(sw))
      ends[edge.port.value()] = {.node = guids[edge.to], .port = edge.far};
    for (const UpDownGraph::Way& way : up_down.up(sw))
      ends[graph.edge(way.edge).port.value()].up = true;
  };
  for (const SwitchIdx sw : oriented.guids.indices()) {
    const std::optional<NodeIdx> node = before.find_node(oriented.guids[sw]);
    if (!node || !before.is_switch(*node)) continue;
    changes.before[sw] = before.switch_of[*node];
    list_far_ends(graph_before, up_down_before, guids_before, changes.before[sw], were);
    list_far_ends(oriented.graph, oriented.up_down, oriented.guids, sw, are);
    for (std::size_t port = 0; port < were.size(); ++port)
      changes.suspect[sw][port] = were[port] != are[port];
    for (const SwitchEdge& edge : oriented.graph.edges(sw)) {
      FarEnd was = were[edge.port.value()];
      const FarEnd is = are[edge.port.value()];
      was.up = is.up;
      if (was != is) changes.gained.push_back({.sw = sw, .port = edge.port, .to = edge.to});
    }
  }
  return changes;
}

}  // namespace smd

#include "smd/routing/keep/port_changes.h"

#include <algorithm>

#include "smd/routing/keep/copy_tables.h"

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
  changes.suspect.resize(now.switch_count());
  const IndexVector<SwitchIdx, Guid> guids_before = list_switch_guids(before);
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
  const IndexVector<SwitchIdx, std::uint32_t>& rank = oriented.oriented.orientation.rank;
  const auto is_up = [](const IndexVector<SwitchIdx, std::uint32_t>& ranks,
                        const IndexVector<SwitchIdx, Guid>& guids,
                        SwitchIdx from,
                        SwitchIdx to) {
    return ranks[from] != ranks[to] ? ranks[to] < ranks[from] : guids[to] < guids[from];
  };
  const auto far_end_before = [&](SwitchIdx sw, const SwitchEdge& edge) {
    return FarEnd{.node = guids_before[edge.to],
                  .port = edge.far,
                  .up = is_up(rank_before, guids_before, sw, edge.to)};
  };
  const auto far_end_now = [&](SwitchIdx sw, const SwitchEdge& edge) {
    return FarEnd{.node = oriented.guids[edge.to],
                  .port = edge.far,
                  .up = is_up(rank, oriented.guids, sw, edge.to)};
  };

  changes.before = find_rows_before(before, now);
  for (const SwitchIdx sw : oriented.guids.indices()) {
    const SwitchIdx was_at = changes.before[sw];
    if (was_at == kNone<SwitchIdx>) continue;
    const auto edges_before = graph_before.edges(was_at), edges = oriented.graph.edges(sw);
    const bool same = std::equal(edges_before.begin(),
                                 edges_before.end(),
                                 edges.begin(),
                                 edges.end(),
                                 [&](const SwitchEdge& then, const SwitchEdge& is) {
                                   return then.port == is.port &&
                                          far_end_before(was_at, then) == far_end_now(sw, is);
                                 });
    if (same) continue;
    // By port number; an empty GUID where no switch is.
    std::array<FarEnd, 256> were{}, are{};
    for (const SwitchEdge& edge : edges_before)
      were[edge.port.value()] = far_end_before(was_at, edge);
    for (const SwitchEdge& edge : edges) are[edge.port.value()] = far_end_now(sw, edge);
    for (std::size_t port = 0; port < were.size(); ++port)
      changes.suspect[sw][port] = were[port] != are[port];
    for (const SwitchEdge& edge : edges) {
      FarEnd was = were[edge.port.value()];
      const FarEnd is = are[edge.port.value()];
      was.up = is.up;
      if (was != is) changes.gained.push_back({.sw = sw, .port = edge.port, .to = edge.to});
    }
  }
  return changes;
}

}  // namespace smd

#include "smd/routing/keep/port_changes.h"

#include <algorithm>
#include <utility>

#include "smd/routing/keep/copy_tables.h"

namespace smd {
namespace {

struct FarEnd {
  Guid node;
  PortNum port;
  bool up = false;

  friend bool operator==(const FarEnd&, const FarEnd&) = default;
};

using Ranks = IndexVector<SwitchIdx, std::uint32_t>;

// Where the cables of one snapshot lead to.
class FarEnds {
 public:
  /// `rank`: empty where directions do not matter.
  FarEnds(IndexVector<SwitchIdx, Guid> guids, Ranks rank)
      : guids_(std::move(guids)), rank_(std::move(rank)) {}

  FarEnd operator()(SwitchIdx sw, const SwitchEdge& edge) const {
    return {.node = guids_[edge.to], .port = edge.far, .up = leads_up(sw, edge.to)};
  }

 private:
  [[nodiscard]] bool leads_up(SwitchIdx from, SwitchIdx to) const {
    if (rank_.empty()) return false;
    return rank_[from] != rank_[to] ? rank_[to] < rank_[from] : guids_[to] < guids_[from];
  }

  IndexVector<SwitchIdx, Guid> guids_;
  Ranks rank_;
};

Ranks find_ranks(const IndexVector<SwitchIdx, Guid>& guids, const Orientation& orientation) {
  Ranks rank(guids.size(), kUnreached);
  for (const SwitchIdx sw : guids.indices()) {
    const auto& known = orientation.by_guid;
    const auto found =
        std::lower_bound(known.begin(), known.end(), guids[sw], [](const auto& entry, Guid guid) {
          return entry.first < guid;
        });
    if (found != known.end() && found->first == guids[sw]) rank[sw] = found->second;
  }
  return rank;
}

PortChanges compare(const Fabric& before,
                    const FarEnds& ends_before,
                    const Fabric& now,
                    const SwitchGraph& graph,
                    const FarEnds& ends_now) {
  PortChanges changes;
  changes.suspect.resize(now.switch_count());
  changes.before = find_rows_before(before, now);
  const SwitchGraph graph_before{before};
  for (const SwitchIdx sw : changes.before.indices()) {
    const SwitchIdx was_at = changes.before[sw];
    if (was_at == kNone<SwitchIdx>) continue;
    const auto edges_before = graph_before.edges(was_at), edges = graph.edges(sw);
    const bool same =
        std::equal(edges_before.begin(),
                   edges_before.end(),
                   edges.begin(),
                   edges.end(),
                   [&](const SwitchEdge& then, const SwitchEdge& is) {
                     return then.port == is.port && ends_before(was_at, then) == ends_now(sw, is);
                   });
    if (same) continue;
    // By port number; an empty GUID where no switch is.
    std::array<FarEnd, 256> were{}, are{};
    for (const SwitchEdge& edge : edges_before) were[edge.port.value()] = ends_before(was_at, edge);
    for (const SwitchEdge& edge : edges) are[edge.port.value()] = ends_now(sw, edge);
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

}  // namespace

bool PortChanges::any() const {
  return std::ranges::any_of(before, [](SwitchIdx sw) { return sw == kNone<SwitchIdx>; }) ||
         std::ranges::any_of(suspect, [](const auto& ports) { return ports.any(); });
}

PortChanges find_port_changes(const Fabric& before, const Fabric& now, const SwitchGraph& graph) {
  return compare(before,
                 FarEnds{list_switch_guids(before), {}},
                 now,
                 graph,
                 FarEnds{list_switch_guids(now), {}});
}

PortChanges find_port_changes(const Fabric& before,
                              const Orientation& orientation_before,
                              const Fabric& now,
                              const OrientedFabric& oriented) {
  const IndexVector<SwitchIdx, Guid> guids_before = list_switch_guids(before);
  return compare(before,
                 FarEnds{guids_before, find_ranks(guids_before, orientation_before)},
                 now,
                 oriented.graph,
                 FarEnds{oriented.guids, oriented.oriented.orientation.rank});
}

}  // namespace smd

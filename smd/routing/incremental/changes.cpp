#include "smd/routing/incremental/changes.h"

#include <algorithm>
#include <span>
#include <utility>
#include <vector>

namespace smd {
namespace {

struct PeerPort {
  Guid node;
  PortNum port;
  bool up = false;

  friend bool operator==(const PeerPort&, const PeerPort&) = default;
};

using Ranks = IndexVector<SwitchIdx, std::uint32_t>;

// Where the links of one snapshot lead to.
class PeerPorts {
 public:
  /// `rank`: empty where directions do not matter.
  PeerPorts(IndexVector<SwitchIdx, Guid> guids, Ranks rank)
      : guids_(std::move(guids)), rank_(std::move(rank)) {}

  PeerPort operator()(SwitchIdx sw, const SwitchEdge& edge) const {
    return {.node = guids_[edge.to], .port = edge.peer_port, .up = leads_up(sw, edge.to)};
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
                    const PeerPorts& ends_before,
                    const Fabric& now,
                    const SwitchGraph& graph,
                    const PeerPorts& ends_now) {
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
    std::array<PeerPort, 256> were{}, are{};
    for (const SwitchEdge& edge : edges_before) were[edge.port.value()] = ends_before(was_at, edge);
    for (const SwitchEdge& edge : edges) are[edge.port.value()] = ends_now(sw, edge);
    for (std::size_t port = 0; port < were.size(); ++port)
      changes.suspect[sw][port] = were[port] != are[port];
    for (const SwitchEdge& edge : edges) {
      PeerPort was = were[edge.port.value()];
      const PeerPort is = are[edge.port.value()];
      was.up = is.up;
      if (was != is) changes.gained.push_back({.sw = sw, .port = edge.port, .to = edge.to});
    }
  }
  return changes;
}

struct LastHop {
  SwitchIdx sw = kNone<SwitchIdx>;
  PortNum egress;
};

// Where the entries lead out of the switches, as the fabric was.
LastHop follow(const PreviousRoutes& before, SwitchIdx at, Lid lid) {
  const Fabric& fabric = *before.fabric;
  for (std::size_t links = 0; links < fabric.switch_count(); ++links) {
    const NodeIdx node = fabric.switch_node[at];
    const PortNum egress = before.routing->lft.route(at, lid);
    if (egress.value() > fabric.num_ports(node)) return {};
    if (serves(before, at, lid)) return {at, egress};
    at = fabric.switch_at(fabric.peer[fabric.port_of(node, egress)]);
  }
  return {};
}

struct Orphan {
  std::uint32_t lid;
  SwitchIdx sw;
  PortNum egress;
};

// Of the first of them, by those behind it: a port has as many as its LMC says, from a multiple of
// that on. No more than any port has: who was at the port before had LIDs as well.
std::uint8_t find_lmc(std::span<const Orphan> some, unsigned highest) {
  std::uint32_t count = 1;
  while (count < some.size() && some[count].lid == some[0].lid + count &&
         some[count].sw == some[0].sw && some[count].egress == some[0].egress)
    ++count;
  std::uint8_t lmc = 0;
  while (lmc < highest && 2u << lmc <= count && some[0].lid % (2u << lmc) == 0) ++lmc;
  return lmc;
}

}  // namespace

bool PortChanges::any() const {
  return std::ranges::any_of(before, [](SwitchIdx sw) { return sw == kNone<SwitchIdx>; }) ||
         std::ranges::any_of(suspect, [](const auto& ports) { return ports.any(); });
}

PortChanges find_port_changes(const Fabric& before, const Fabric& now, const SwitchGraph& graph) {
  return compare(before,
                 PeerPorts{list_switch_guids(before), {}},
                 now,
                 graph,
                 PeerPorts{list_switch_guids(now), {}});
}

PortChanges find_port_changes(const Fabric& before,
                              const Orientation& orientation_before,
                              const Fabric& now,
                              const OrientedFabric& oriented) {
  const IndexVector<SwitchIdx, Guid> guids_before = list_switch_guids(before);
  return compare(before,
                 PeerPorts{guids_before, find_ranks(guids_before, orientation_before)},
                 now,
                 oriented.graph,
                 PeerPorts{oriented.guids, oriented.oriented.orientation.rank});
}

ForwardingTables copy_tables(const ForwardingTables& before,
                             const IndexVector<SwitchIdx, SwitchIdx>& row_before,
                             Lid top) {
  const auto last = SwitchIdx{static_cast<std::uint32_t>(row_before.size())};
  bool same_rows = row_before.size() == before.switches() && top <= before.top();
  for (SwitchIdx sw{0}; same_rows && sw < last; sw = next(sw)) same_rows = row_before[sw] == sw;
  if (same_rows) return before;
  auto tables = ForwardingTables::without_rows(row_before.size(), std::max(top, before.top()));
  for (const SwitchIdx sw : row_before.indices()) {
    if (row_before[sw] != kNone<SwitchIdx>) tables.set_row(sw, before, row_before[sw]);
  }
  return tables;
}

IndexVector<SwitchIdx, SwitchIdx> find_rows_before(const Fabric& before, const Fabric& now) {
  IndexVector<SwitchIdx, SwitchIdx> rows;
  rows.reserve(now.switch_count());
  for (const SwitchIdx sw : now.switch_node.indices()) {
    const Guid guid = now.node_guid[now.switch_node[sw]];
    // Mostly nothing has moved, and no look-up is needed.
    if (sw.value() < before.switch_count() && before.node_guid[before.switch_node[sw]] == guid) {
      rows.push_back(sw);
      continue;
    }
    const std::optional<NodeIdx> node = before.find_node(guid);
    rows.push_back(node ? before.switch_of[*node] : kNone<SwitchIdx>);
  }
  return rows;
}

bool serves(const PreviousRoutes& routes, SwitchIdx sw, Lid lid) {
  if (sw == kNone<SwitchIdx> || lid > routes.routing->lft.top()) return false;
  const Fabric& fabric = *routes.fabric;
  const NodeIdx node = fabric.switch_node[sw];
  const PortNum egress = routes.routing->lft.route(sw, lid);
  if (egress.value() > fabric.num_ports(node)) return false;
  const PortIdx peer = fabric.peer[fabric.port_of(node, egress)];
  return egress == PortNum{0} || peer == kNone<PortIdx> || !fabric.is_switch(fabric.node_of[peer]);
}

void add_orphaned_lids(const Fabric& fabric,
                       const LidMap& lids,
                       const PreviousRoutes& in_force,
                       Targets& targets) {
  const ForwardingTables& tables = in_force.routing->lft;
  const std::vector<Lid> unowned = list_orphaned_lids(tables, lids);
  std::vector<Orphan> orphans;
  std::vector<SwitchIdx> known(unowned.size(), kNone<SwitchIdx>);  // who has an entry
  for (const SwitchIdx sw : in_force.fabric->switch_node.indices()) {
    const std::span<const PortNum> row = tables.row(sw);
    for (std::size_t i = 0; i < unowned.size(); ++i) {
      if (known[i] == kNone<SwitchIdx> && row[unowned[i].value()] != kNoRoute) known[i] = sw;
    }
  }
  for (std::size_t i = 0; i < unowned.size() && unowned[i] <= tables.top(); ++i) {
    const LastHop last = follow(in_force, known[i], unowned[i]);
    if (last.sw == kNone<SwitchIdx> || last.egress == PortNum{0}) continue;
    const auto node =
        fabric.find_node(in_force.fabric->node_guid[in_force.fabric->switch_node[last.sw]]);
    if (!node || !fabric.is_switch(*node) || last.egress.value() > fabric.num_ports(*node))
      continue;
    const PortIdx peer = fabric.peer[fabric.port_of(*node, last.egress)];
    if (peer != kNone<PortIdx> && fabric.is_switch(fabric.node_of[peer])) continue;
    orphans.push_back({unowned[i].value(), fabric.switch_of[*node], last.egress});
  }
  unsigned highest = 0;
  for (const LidMap* const of : {&lids, in_force.lids}) {
    for (const std::uint8_t lmc : of->lmc) highest = std::max<unsigned>(highest, lmc);
  }
  for (std::span<const Orphan> rest{orphans}; !rest.empty();) {
    const std::uint8_t lmc = find_lmc(rest, highest);
    targets.of[rest[0].sw].push_back({.base = Lid{static_cast<std::uint16_t>(rest[0].lid)},
                                      .lmc = lmc,
                                      .egress = rest[0].egress,
                                      .host = true});
    rest = rest.subspan(std::size_t{1} << lmc);
  }
}

}  // namespace smd

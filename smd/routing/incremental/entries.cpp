#include "smd/routing/incremental/entries.h"

#include <algorithm>
#include <array>
#include <optional>
#include <tuple>
#include <utility>

namespace smd {
namespace {

// The switch that hands a LID over, and its port: what routes lead to.
struct Place {
  Guid last;
  PortNum egress;

  friend bool operator==(const Place&, const Place&) = default;
};

std::optional<Place> find_place(const Fabric& fabric, const LidMap& lids, Lid lid) {
  const PortIdx owner = lids.owner_of(lid);
  if (owner == kNone<PortIdx>) return std::nullopt;
  if (fabric.is_switch(fabric.node_of[owner]))
    return Place{fabric.node_guid[fabric.node_of[owner]], PortNum{0}};
  const PortIdx peer = fabric.peer[owner];
  if (peer == kNone<PortIdx> || !fabric.is_switch(fabric.node_of[peer])) return std::nullopt;
  return Place{fabric.node_guid[fabric.node_of[peer]], fabric.number_of(peer)};
}

}  // namespace

std::vector<Destination> list_destinations(const Targets& targets, Lid top) {
  bool hosts = false;
  for (const std::uint32_t count : targets.hosts) hosts = hosts || count != 0;
  std::vector<Destination> by_lid(std::size_t{top.value()} + 1);
  for (const SwitchIdx sw : targets.of.indices()) {
    for (const Target& target : targets.of[sw]) {
      // Without hosts the switches themselves are all the traffic there is.
      const bool weighs = (target.host || !hosts) && target.demand != 0;
      for (unsigned offset = 0; offset < 1u << target.lmc; ++offset)
        by_lid[target.base.value() + offset] = {.last = sw,
                                                .egress = target.egress,
                                                .base = target.base,
                                                .weighs = weighs,
                                                .demand = weighs ? target.demand : 0};
    }
  }
  return by_lid;
}

std::vector<char> find_new_lids(const Fabric& fabric,
                                const LidMap& lids,
                                const PreviousRoutes& before,
                                const std::vector<Destination>& destinations) {
  std::vector<char> fresh(destinations.size(), 0);
  for (std::size_t value = 1; value < destinations.size(); ++value) {
    if (destinations[value].last == kNone<SwitchIdx>) continue;
    const Lid lid{static_cast<std::uint16_t>(value)};
    fresh[value] = find_place(fabric, lids, lid) != find_place(*before.fabric, *before.lids, lid);
  }
  return fresh;
}

bool keeps_lids_apart(const std::vector<Destination>& destinations,
                      const ForwardingTables& tables,
                      SwitchIdx sw,
                      Lid lid,
                      PortNum to) {
  const PortNum from = tables.route(sw, lid);
  const Lid base = destinations[lid.value()].base;
  int more = 0;
  for (std::size_t other = base.value();
       other < destinations.size() && destinations[other].base == base;
       ++other) {
    const PortNum port = tables.route(sw, Lid{static_cast<std::uint16_t>(other)});
    if (other != lid.value()) more += (port == to) - (port == from);
  }
  return more <= 0;
}

bool are_worth_keeping(const std::vector<Destination>& destinations,
                       const std::vector<char>& fresh,
                       const IndexVector<SwitchIdx, SwitchIdx>& row_before) {
  std::size_t owned = 0, new_lids = 0, new_switches = 0;
  for (std::size_t value = 1; value < destinations.size(); ++value) {
    owned += destinations[value].last != kNone<SwitchIdx>;
    new_lids += fresh[value] != 0;
  }
  for (const SwitchIdx sw : row_before) new_switches += sw == kNone<SwitchIdx>;
  return 2 * new_lids <= owned && 2 * new_switches <= row_before.size();
}

Entries::Entries(const SwitchGraph& graph,
                 const Targets& targets,
                 const std::vector<std::uint32_t>& costs,
                 const std::vector<Destination>& destinations,
                 ForwardingTables& tables)
    : graph_(graph),
      targets_(targets),
      costs_(costs),
      destinations_(destinations),
      tables_(tables),
      carried_(graph.switches()),
      touched_(destinations.size(), 0) {
  for (const std::uint32_t count : targets.hosts) hosts_exist_ = hosts_exist_ || count != 0;
  demand_.reserve(destinations.size());
  for (const Destination& each : destinations) demand_.push_back(each.demand);
}

std::uint32_t Entries::count_paths(SwitchIdx sw, Lid lid) const {
  std::uint32_t paths = own_paths(sw);
  for (const SwitchEdge& edge : graph_.edges(sw)) {
    if (tables_.route(edge.to, lid) == edge.peer_port) paths += count_paths(edge.to, lid);
  }
  return paths;
}

std::span<const std::uint64_t> Entries::carried(SwitchIdx sw) {
  std::vector<std::uint64_t>& sums = carried_[sw];
  if (sums.empty()) {
    sums.assign(256, 0);
    const std::span<const PortNum> row = tables_.row(sw);
    // Neighbours often leave by one port: sums that wait for each other.
    std::array<std::array<std::uint64_t, 256>, 4> parts{};
    std::size_t lid = 0;
    for (; lid + parts.size() <= demand_.size(); lid += parts.size()) {
      for (std::size_t i = 0; i < parts.size(); ++i)
        parts[i][row[lid + i].value()] += demand_[lid + i];
    }
    for (; lid < demand_.size(); ++lid) parts[0][row[lid].value()] += demand_[lid];
    for (const auto& part : parts) {
      for (std::size_t port = 0; port < part.size(); ++port) sums[port] += part[port];
    }
  }
  return sums;
}

void Entries::set(SwitchIdx sw, Lid lid, PortNum port) {
  const PortNum before = tables_.route(sw, lid);
  if (before == port) return;
  touched_[lid.value()] = 1;
  changes_.push_back({lid, sw});
  if (std::vector<std::uint64_t>& sums = carried_[sw]; !sums.empty()) {
    sums[before.value()] -= destinations_[lid.value()].demand;
    sums[port.value()] += destinations_[lid.value()].demand;
  }
  tables_.set_route(sw, lid, port);
}

std::vector<Lid> Entries::list_touched() const {
  std::vector<Lid> lids;
  for (std::size_t lid = 0; lid < touched_.size(); ++lid) {
    if (touched_[lid]) lids.push_back(Lid{static_cast<std::uint16_t>(lid)});
  }
  return lids;
}

std::vector<Entries::Change> Entries::list_changes() const {
  std::vector<Change> sorted = changes_;
  std::ranges::sort(sorted);
  const auto twice = std::ranges::unique(sorted);
  sorted.erase(twice.begin(), twice.end());
  return sorted;
}

PortNum Entries::choose(SwitchIdx sw, Lid lid, std::span<const std::uint32_t> candidates) {
  if (candidates.size() == 1) return graph_.edge(candidates[0]).port;
  const Destination& wanted = destinations_[lid.value()];
  std::array<std::uint16_t, 256> by_owner{}, by_neighbours{};
  for (const Target& target : targets_.of[wanted.last]) {
    for (unsigned offset = 0; offset < 1u << target.lmc; ++offset) {
      const Lid other{static_cast<std::uint16_t>(target.base.value() + offset)};
      if (other == lid || !destinations_[other.value()].weighs) continue;
      ++by_neighbours[tables_.route(sw, other).value()];
      if (target.base == wanted.base) ++by_owner[tables_.route(sw, other).value()];
    }
  }
  const std::span<const std::uint64_t> by_all = carried(sw);
  const auto uses = [&](std::uint32_t edge) {
    const PortNum port = graph_.edge(edge).port;
    return std::tuple{by_owner[port.value()],
                      by_neighbours[port.value()],
                      (by_all[port.value()] + wanted.demand) * costs_[edge],
                      port};
  };
  std::uint32_t best = candidates[0];
  for (const std::uint32_t edge : candidates.subspan(1)) {
    if (uses(edge) < uses(best)) best = edge;
  }
  return graph_.edge(best).port;
}

}  // namespace smd

#include "smd/routing/keep/entries.h"

#include <algorithm>
#include <array>
#include <tuple>
#include <utility>

namespace smd {

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
}

std::uint32_t Entries::count_paths(SwitchIdx sw, Lid lid) const {
  std::uint32_t paths = own_paths(sw);
  for (const SwitchEdge& edge : graph_.edges(sw)) {
    if (tables_.route(edge.to, lid) == edge.far) paths += count_paths(edge.to, lid);
  }
  return paths;
}

std::span<const std::uint64_t> Entries::carried(SwitchIdx sw) {
  std::vector<std::uint64_t>& sums = carried_[sw];
  if (sums.empty()) {
    sums.assign(256, 0);
    const std::span<const PortNum> row = std::as_const(tables_).row(sw);
    for (std::size_t lid = 0; lid < destinations_.size(); ++lid)
      sums[row[lid].value()] += destinations_[lid].draws;
  }
  return sums;
}

void Entries::set(SwitchIdx sw, Lid lid, PortNum port) {
  const PortNum before = tables_.route(sw, lid);
  if (before == port) return;
  touched_[lid.value()] = 1;
  changes_.push_back({lid, sw});
  if (std::vector<std::uint64_t>& sums = carried_[sw]; !sums.empty()) {
    sums[before.value()] -= destinations_[lid.value()].draws;
    sums[port.value()] += destinations_[lid.value()].draws;
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

PortNum Entries::choose(SwitchIdx sw, Lid lid, std::span<const std::uint32_t> ways) {
  if (ways.size() == 1) return graph_.edge(ways[0]).port;
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
  const auto uses = [&](std::uint32_t way) {
    const PortNum port = graph_.edge(way).port;
    return std::tuple{by_owner[port.value()],
                      by_neighbours[port.value()],
                      (by_all[port.value()] + wanted.draws) * costs_[way],
                      port};
  };
  std::uint32_t best = ways[0];
  for (const std::uint32_t way : ways.subspan(1)) {
    if (uses(way) < uses(best)) best = way;
  }
  return graph_.edge(best).port;
}

}  // namespace smd

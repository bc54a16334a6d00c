#include "smd/routing/keep/load_change.h"

#include <algorithm>
#include <utility>

namespace smd {
namespace {

// FNV-1a, by whole words.
void mix(std::uint64_t& hash, std::uint64_t word) {
  hash = (hash ^ word) * 0x100000001b3u;
  hash ^= hash >> 29;
}

}  // namespace

std::uint64_t compute_load_basis(const IndexVector<SwitchIdx, Guid>& guids,
                                 const Targets& targets,
                                 const std::vector<Destination>& destinations) {
  std::uint64_t hash = 0xcbf29ce484222325u;
  std::vector<std::pair<Guid, std::uint32_t>> senders;  // a switch without hosts changes nothing
  for (const SwitchIdx sw : guids.indices()) {
    if (targets.hosts[sw] != 0) senders.emplace_back(guids[sw], targets.hosts[sw]);
  }
  std::ranges::sort(senders);
  mix(hash, senders.empty() ? guids.size() : 0);  // then all switches send
  for (const auto& [guid, hosts] : senders) {
    mix(hash, guid.value());
    mix(hash, hosts);
  }
  for (std::size_t lid = 0; lid < destinations.size(); ++lid) {
    if (destinations[lid].draws == 0) continue;
    mix(hash, lid);
    mix(hash, destinations[lid].draws);
    mix(hash, guids[destinations[lid].last].value());
  }
  return hash;
}

LoadChange::LoadChange(Side before,
                       Side now,
                       const PortChanges& changes,
                       const IndexVector<SwitchIdx, std::uint32_t>& sources,
                       const std::vector<Destination>& destinations)
    : before_(before),
      now_(now),
      changes_(changes),
      sources_(sources),
      destinations_(destinations),
      by_port_before_(list_by_port(before.graph)),
      by_port_(list_by_port(now.graph)),
      taken_(now.graph.edge_count(), 0),
      differs_(now.graph.switches(), 0) {}

LoadChange::ByPort LoadChange::list_by_port(const SwitchGraph& graph) {
  ByPort by_port(graph.switches() * 256, kNoEdge);
  for (std::uint32_t sw = 0; sw < graph.switches(); ++sw) {
    std::uint32_t position = graph.first_edge(SwitchIdx{sw});
    for (const SwitchEdge& edge : graph.edges(SwitchIdx{sw}))
      by_port[sw * std::size_t{256} + edge.port.value()] = position++;
  }
  return by_port;
}

bool LoadChange::is_known() const {
  return std::ranges::none_of(changes_.gained, [&](const PortChanges::Gained& link) {
    return by_port_before_[changes_.before[link.sw].value() * std::size_t{256} +
                           link.port.value()] != kNoEdge;
  });
}

std::vector<std::uint64_t> LoadChange::apply(std::vector<std::uint64_t> load,
                                             std::span<const Entries::Change> changed) {
  left_ = std::move(load);
  for (std::size_t begin = 0; begin < changed.size();) {
    const Lid lid = changed[begin].lid;
    std::size_t end = begin;
    for (; end < changed.size() && changed[end].lid == lid; ++end) {
      const SwitchIdx sw = changed[end].sw, row = changes_.before[sw];
      differs_[sw] = row == kNone<SwitchIdx> || lid > before_.tables.top() ||
                     before_.tables.route(row, lid) != now_.tables.route(sw, lid);
    }
    for (std::size_t at = begin; at < end && destinations_[lid.value()].draws != 0; ++at) {
      if (differs_[changed[at].sw]) move_paths(lid, changed[at].sw);
    }
    for (; begin < end; ++begin) differs_[changed[begin].sw] = 0;
  }
  for (const SwitchIdx sw : differs_.indices()) {
    const SwitchIdx row = changes_.before[sw];
    if (row == kNone<SwitchIdx>) continue;
    std::uint32_t position = now_.graph.first_edge(sw);
    for (const SwitchEdge& edge : now_.graph.edges(sw)) {
      const std::uint32_t was = by_port_before_[row.value() * std::size_t{256} + edge.port.value()];
      if (was != kNoEdge) taken_[position] += left_[was];
      ++position;
    }
  }
  return std::move(taken_);
}

// Paths that come to this switch before any other whose entry differs: up to it they are as they
// were.
std::uint64_t LoadChange::count_own(SwitchIdx sw, Lid lid) const {
  std::uint64_t paths = sources_[sw];
  for (const SwitchEdge& edge : now_.graph.edges(sw)) {
    if (now_.tables.route(edge.to, lid) == edge.far && !differs_[edge.to])
      paths += count_own(edge.to, lid);
  }
  return paths;
}

void LoadChange::move_paths(Lid lid, SwitchIdx sw) {
  const Destination& wanted = destinations_[lid.value()];
  const std::uint64_t weight = count_own(sw, lid) * wanted.draws;
  if (weight == 0) return;
  const SwitchIdx row = changes_.before[sw], last = changes_.before[wanted.last];
  if (row != kNone<SwitchIdx> && last != kNone<SwitchIdx> && lid <= before_.tables.top()) {
    follow(before_, by_port_before_, row, last, lid);
    for (const std::uint32_t edge : path_) left_[edge] -= weight;
  }
  follow(now_, by_port_, sw, wanted.last, lid);
  for (const std::uint32_t edge : path_) taken_[edge] += weight;
}

void LoadChange::follow(
    const Side& side, const ByPort& by_port, SwitchIdx from, SwitchIdx last, Lid lid) {
  path_.clear();
  for (SwitchIdx sw = from; sw != last; sw = side.graph.edge(path_.back()).to) {
    const std::uint32_t edge =
        by_port[sw.value() * std::size_t{256} + side.tables.route(sw, lid).value()];
    if (edge == kNoEdge || path_.size() > side.graph.switches()) return path_.clear();
    path_.push_back(edge);
  }
}

}  // namespace smd

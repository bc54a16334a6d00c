#include "smd/routing/shape/neighbour_graph.h"

#include <fmt/core.h>

#include <algorithm>
#include <tuple>

namespace smd {
namespace {

struct Cable {
  std::uint32_t rank;  // of the switch it leads to
  PortNum port;
};

}  // namespace

NeighbourGraph::NeighbourGraph(const Fabric& fabric) : rank_(fabric.switch_count()) {
  const auto guid = [&](SwitchIdx sw) { return fabric.node_guid[fabric.switch_node[sw]]; };
  for (const SwitchIdx sw : fabric.switch_node.indices()) by_guid_.push_back(sw);
  std::sort(by_guid_.begin(), by_guid_.end(), [&](SwitchIdx a, SwitchIdx b) {
    return guid(a) < guid(b);
  });
  for (std::uint32_t r = 0; r < by_guid_.size(); ++r) rank_[by_guid_[r]] = r;

  std::vector<Cable> cables;
  for (const SwitchIdx sw : fabric.switch_node.indices()) {
    const NodeIdx node = fabric.switch_node[sw];
    cables.clear();
    for (const PortIdx port : fabric.external_ports(node)) {
      const PortIdx peer = fabric.peer[port];
      if (peer == kNone<PortIdx> || fabric.node_of[peer] == node) continue;
      const SwitchIdx far = fabric.switch_of[fabric.node_of[peer]];
      if (far != kNone<SwitchIdx>) cables.push_back({rank_[far], fabric.number_of(port)});
    }
    std::sort(cables.begin(), cables.end(), [](const Cable& a, const Cable& b) {
      return std::tie(a.rank, a.port) < std::tie(b.rank, b.port);
    });
    first_.push_back(static_cast<std::uint32_t>(neighbours_.size()));
    for (std::size_t i = 0; i < cables.size(); ++i) {
      if (i == 0 || cables[i].rank != cables[i - 1].rank) {
        neighbours_.push_back({by_guid_[cables[i].rank], 0});
        first_port_.push_back(static_cast<std::uint32_t>(ports_.size()));
      }
      ports_.push_back(cables[i].port);
    }
  }
  first_.push_back(static_cast<std::uint32_t>(neighbours_.size()));
  first_port_.push_back(static_cast<std::uint32_t>(ports_.size()));

  // Links are numbered from the end with the smaller GUID.
  for (const SwitchIdx sw : by_guid_) {
    for (std::uint32_t at = first_[sw.value()]; at < first_[sw.value() + 1]; ++at) {
      const SwitchIdx to = neighbours_[at].to;
      if (rank_[to] < rank_[sw]) continue;
      neighbours_[at].link = static_cast<std::uint32_t>(links_);
      neighbours_[first_[to.value()] + *find(to, sw)].link = static_cast<std::uint32_t>(links_++);
    }
  }
}

std::optional<std::uint32_t> NeighbourGraph::find(SwitchIdx sw, SwitchIdx to) const {
  const auto all = around(sw);
  const auto found = std::lower_bound(
      all.begin(), all.end(), rank_[to], [&](const Neighbour& n, std::uint32_t rank) {
        return rank_[n.to] < rank;
      });
  if (found == all.end() || found->to != to) return std::nullopt;
  return static_cast<std::uint32_t>(found - all.begin());
}

SwitchIdx NeighbourGraph::find_island() const {
  if (switches() == 0) return kNone<SwitchIdx>;
  IndexVector<SwitchIdx, char> seen(switches(), 0);
  std::vector<SwitchIdx> queue{by_guid_.front()};
  seen[queue.front()] = 1;
  for (std::size_t at = 0; at < queue.size(); ++at) {
    for (const Neighbour& n : around(queue[at])) {
      if (seen[n.to]) continue;
      seen[n.to] = 1;
      queue.push_back(n.to);
    }
  }
  for (const SwitchIdx sw : by_guid_) {
    if (!seen[sw]) return sw;
  }
  return kNone<SwitchIdx>;
}

std::string print_switch(const Fabric& fabric, SwitchIdx sw) {
  const NodeIdx node = fabric.switch_node[sw];
  const std::string& name = fabric.description[node];
  return name.empty() ? fmt::format("{}", fabric.node_guid[node]) : name;
}

}  // namespace smd

#include "smd/routing/keep/lft_trees.h"

#include <algorithm>

namespace smd {

LftTrees::LftTrees(const SwitchGraph& graph,
                   const Targets& targets,
                   const std::vector<Destination>& destinations,
                   const ForwardingTables& tables,
                   Entries& entries,
                   const Rows& before,
                   unsigned offset)
    : graph_(graph),
      destinations_(destinations),
      tables_(tables),
      entries_(entries),
      before_(before),
      by_port_(graph.switches() * 256, kNoWay) {
  for (const SwitchIdx sw : targets.of.indices()) {
    for (const Target& target : targets.of[sw]) {
      const auto lid = static_cast<std::uint16_t>(target.base.value() + offset);
      if (offset < 1u << target.lmc && destinations[lid].draws != 0) lids_.push_back(Lid{lid});
    }
    std::uint32_t position = graph.first_edge(sw);
    for (const SwitchEdge& edge : graph.edges(sw))
      by_port_[sw.value() * std::size_t{256} + edge.port.value()] = position++;
  }
  std::ranges::sort(lids_);
}

bool LftTrees::take(std::uint32_t tree, SwitchIdx sw, std::uint32_t edge) {
  const Lid lid = lids_[tree];
  const PortNum from = tables_.route(sw, lid);
  const PortNum to = graph_.edge(edge).port;
  int more = 0;
  for (std::size_t other = destinations_[lid.value()].base.value();
       other < destinations_.size() && destinations_[other].base == destinations_[lid.value()].base;
       ++other) {
    const PortNum port = tables_.route(sw, Lid{static_cast<std::uint16_t>(other)});
    if (other != lid.value()) more += (port == to) - (port == from);
  }
  if (more > 0) return false;
  entries_.set(sw, lid, to);
  return true;
}

}  // namespace smd

#include "smd/routing/keep/old_routes.h"

namespace smd {

OldRoutes::OldRoutes(const PreviousRoutes& before,
                     const IndexVector<SwitchIdx, SwitchIdx>& row_before)
    : before_(before),
      row_before_(row_before),
      last_(before.routing->lft.blocks() * kLftBlockSize, kNone<SwitchIdx>) {
  const SwitchGraph graph{*before.fabric};
  for (const SwitchIdx sw : before.fabric->switch_node.indices()) {
    const std::size_t first = hops_.size();
    first_hop_.push_back(static_cast<std::uint32_t>(first));
    const auto edges = graph.edges(sw);
    if (!edges.empty()) hops_.resize(first + edges.back().port.value() + 1u, kNone<SwitchIdx>);
    for (const SwitchEdge& edge : edges) hops_[first + edge.port.value()] = edge.to;
  }
  first_hop_.push_back(static_cast<std::uint32_t>(hops_.size()));
  const Targets targets = find_targets(*before.fabric, *before.lids);
  for (const SwitchIdx sw : targets.of.indices()) {
    for (const Target& target : targets.of[sw]) {
      for (unsigned offset = 0; offset < 1u << target.lmc; ++offset) {
        if (target.base.value() + offset < last_.size()) last_[target.base.value() + offset] = sw;
      }
    }
  }
}

std::uint32_t OldRoutes::length(SwitchIdx sw, Lid lid) const {
  SwitchIdx at = row_before_[sw];
  if (at == kNone<SwitchIdx> || lid.value() >= last_.size()) return kUnreached;
  const std::size_t most = before_.fabric->switch_count();
  for (std::uint32_t links = 0; links < most; ++links) {
    if (at == last_[lid.value()]) return links;
    const std::uint32_t hop = first_hop_[at.value()] + before_.routing->lft.route(at, lid).value();
    if (hop >= first_hop_[at.value() + 1] || hops_[hop] == kNone<SwitchIdx>) return kUnreached;
    at = hops_[hop];
  }
  return kUnreached;
}

}  // namespace smd

#include "smd/routing/keep/rebalance.h"

#include <algorithm>
#include <map>

namespace smd {

Rebalancer::Rebalancer(RouteState& routes)
    : routes_(routes), queued_(routes.oriented().graph.switches(), 0) {}

bool Rebalancer::may_hand_over(SwitchIdx from, RouteState::Hop hop, Lid lid) const {
  if (!hop.up) return routes_.descent(hop.to, lid) != kUnreached;
  // Somebody above may count on those who descend.
  const RouteState::Hop now = routes_.next(from, lid);
  return now.to != kNone<SwitchIdx> && now.up && routes_.length(hop.to, lid) != kUnreached;
}

bool Rebalancer::improves(SwitchIdx from, PortNum port, Lid lid) const {
  if (from == routes_.destination(lid).last) return false;
  const RouteState::Hop hop = routes_.hop(from, port);
  const std::uint32_t onward = routes_.length(hop.to, lid);
  return onward != kUnreached && onward + 1 < routes_.length(from, lid) &&
         may_hand_over(from, hop, lid);
}

void Rebalancer::shorten(Lid lid, std::span<const PortChanges::Gained> links) {
  queue_.clear();
  const auto queue = [&](SwitchIdx sw) {
    if (!queued_[sw]) queue_.push_back(sw);
    queued_[sw] = 1;
  };
  for (const PortChanges::Gained& link : links) {
    if (!improves(link.sw, link.port, lid)) continue;
    routes_.set(link.sw, lid, link.port);
    queue(link.sw);
  }
  for (std::size_t at = 0; at < queue_.size(); ++at) {
    const SwitchIdx sw = queue_[at];
    queued_[sw] = 0;
    for (const SwitchEdge& edge : routes_.oriented().graph.edges(sw)) {
      // Edges are seen from here: the neighbour comes over its own end of the cable.
      if (routes_.next(edge.to, lid).to != sw) {
        if (!improves(edge.to, edge.far, lid)) continue;
        routes_.set(edge.to, lid, edge.far);
      }
      queue(edge.to);
    }
  }
}

void Rebalancer::fill(const PortChanges::Gained& link, Lid top) {
  const RouteState::Hop hop = routes_.hop(link.sw, link.port);
  std::map<std::size_t, std::vector<Lid>> by_block;
  std::map<PortNum, std::uint64_t> donors;
  for (std::uint32_t value = 1; value <= top.value(); ++value) {
    const Lid lid{static_cast<std::uint16_t>(value)};
    const Destination& wanted = routes_.destination(lid);
    if (!wanted.weighs || wanted.last == kNone<SwitchIdx> || wanted.last == link.sw) continue;
    const PortNum port = routes_.exit(link.sw, lid);
    if (port == link.port) continue;
    const std::uint32_t onward = routes_.length(hop.to, lid);
    if (onward == kUnreached || onward + 1 != routes_.length(link.sw, lid)) continue;
    if (!may_hand_over(link.sw, hop, lid)) continue;
    by_block[value / kLftBlockSize].push_back(lid);
    donors[port] = routes_.carried(link.sw)[port.value()];
  }
  if (donors.empty()) return;

  const auto carried = [&](PortNum port) { return routes_.carried(link.sw)[port.value()]; };
  std::uint64_t sum = carried(link.port);
  for (const auto& [port, count] : donors) sum += count;
  const std::uint64_t share = sum / (donors.size() + 1);

  std::vector<const std::vector<Lid>*> blocks;
  for (const auto& [number, movable] : by_block) blocks.push_back(&movable);
  std::stable_sort(blocks.begin(), blocks.end(), [](const auto* a, const auto* b) {
    return a->size() > b->size();
  });
  for (const std::vector<Lid>* movable : blocks) {
    for (const Lid lid : *movable) {
      if (carried(link.port) >= share) return;
      if (carried(routes_.exit(link.sw, lid)) > share) routes_.set(link.sw, lid, link.port);
    }
  }
}

}  // namespace smd

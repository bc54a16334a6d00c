#include "smd/discovery/route_tree.h"

#include <array>

namespace smd {

RouteTree::RouteTree(const Survey& survey) : survey_(&survey), steps_(survey.size()) {
  std::vector<std::uint32_t> order{0};
  steps_[0] = {.arrival = survey.local_port(), .depth = 0};
  for (std::size_t at = 0; at < order.size(); ++at) {
    const std::uint32_t n = order[at];
    if (steps_[n].depth == kMaxHops) continue;
    const bool forwards = survey.node(n).info.is_switch();
    const std::vector<CableEnd>& peers = survey.peers(n);
    for (unsigned p = 1; p < peers.size(); ++p) {
      const CableEnd from{n, PortNum{static_cast<std::uint8_t>(p)}};
      if (!forwards && (n != 0 || from.port != survey.local_port())) continue;
      const CableEnd far = peers[p];
      if (far.node == Survey::kNobody || steps_[far.node].depth != kUnreached) continue;
      if (survey.node(far.node).broken) continue;
      steps_[far.node] = {.from = from,
                          .arrival = far.port,
                          .depth = static_cast<std::uint8_t>(steps_[n].depth + 1)};
      order.push_back(far.node);
    }
  }
}

HopPath RouteTree::path(std::uint32_t node) const {
  std::array<PortNum, kMaxHops> backwards{};
  std::size_t hops = 0;
  for (std::uint32_t n = node; steps_[n].depth != 0; n = steps_[n].from.node) {
    backwards[hops++] = steps_[n].from.port;
  }
  HopPath path;
  while (hops > 0) path.push_back(backwards[--hops]);
  return path;
}

std::vector<std::uint32_t> RouteTree::cut(CableEnd end) {
  const auto far = survey_->peer(end);
  if (!far) return {};
  std::vector<std::uint32_t> lost;
  const auto lose = [&](CableEnd from, std::uint32_t to) {
    if (!reaches(to) || steps_[to].depth == 0 || steps_[to].from != from) return;
    steps_[to].depth = kUnreached;
    lost.push_back(to);
  };
  lose(end, far->node);
  lose(*far, end.node);
  for (std::size_t at = 0; at < lost.size(); ++at) {
    const std::uint32_t n = lost[at];
    const std::vector<CableEnd>& peers = survey_->peers(n);
    for (unsigned p = 1; p < peers.size(); ++p) {
      if (peers[p].node == Survey::kNobody) continue;
      lose({n, PortNum{static_cast<std::uint8_t>(p)}}, peers[p].node);
    }
  }
  return lost;
}

}  // namespace smd

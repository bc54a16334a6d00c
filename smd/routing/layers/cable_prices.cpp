#include "smd/routing/layers/cable_prices.h"

#include <algorithm>

namespace smd {
namespace {

using Numbers = IndexVector<SwitchIdx, std::uint32_t>;

constexpr std::uint32_t kNotMet = ~std::uint32_t{0};

std::vector<SwitchIdx> list_by_guid(const Fabric& fabric) {
  std::vector<SwitchIdx> listed;
  for (const SwitchIdx sw : fabric.switch_node.indices()) listed.push_back(sw);
  std::ranges::sort(
      listed, {}, [&](SwitchIdx sw) { return fabric.node_guid[fabric.switch_node[sw]]; });
  return listed;
}

// Every island after the other.
Numbers number_by_walk(const SwitchGraph& graph, const std::vector<SwitchIdx>& by_guid) {
  Numbers number(graph.switches(), kNotMet);
  Numbers next_edge(graph.switches(), 0);
  std::uint32_t met = 0;
  std::vector<SwitchIdx> path;
  for (const SwitchIdx start : by_guid) {
    if (number[start] != kNotMet) continue;
    number[start] = met++;
    path.assign(1, start);
    while (!path.empty()) {
      const SwitchIdx sw = path.back();
      if (next_edge[sw] == graph.edges(sw).size()) {
        path.pop_back();
        continue;
      }
      const SwitchIdx far = graph.edges(sw)[next_edge[sw]++].to;
      if (number[far] != kNotMet) continue;
      number[far] = met++;
      path.push_back(far);
    }
  }
  return number;
}

}  // namespace

std::vector<std::uint32_t> price_cables(const Fabric& fabric,
                                        const SwitchGraph& graph,
                                        Numbering numbering) {
  const std::vector<SwitchIdx> by_guid = list_by_guid(fabric);
  Numbers number(graph.switches(), 0);
  if (numbering == Numbering::Walk) {
    number = number_by_walk(graph, by_guid);
  } else {
    for (std::uint32_t at = 0; at < by_guid.size(); ++at) number[by_guid[at]] = at;
  }
  std::vector<std::uint32_t> prices;
  prices.reserve(graph.edge_count());
  for (const SwitchIdx sw : fabric.switch_node.indices()) {
    for (const SwitchEdge& edge : graph.edges(sw)) {
      const auto [less, more] = std::minmax(number[sw], number[edge.to]);
      prices.push_back(more - less);
    }
  }
  return prices;
}

}  // namespace smd

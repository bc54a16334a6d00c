#include "smd/routing/nue/channels.h"

#include <algorithm>

namespace smd {

Channels::Channels(const SwitchGraph& graph)
    : from(graph.edge_count(), SwitchIdx{0}),
      to(graph.edge_count(), SwitchIdx{0}),
      reverse(graph.edge_count(), kNoChannel) {
  first.reserve(graph.switches() + 1);
  std::size_t most = 1;
  for (std::uint32_t s = 0; s < graph.switches(); ++s) {
    const SwitchIdx sw{s};
    Channel channel = graph.first_edge(sw);
    first.push_back(channel);
    most = std::max(most, graph.edges(sw).size());
    for (const SwitchEdge& edge : graph.edges(sw)) {
      const auto back = graph.edges(edge.to);
      const auto found = std::lower_bound(
          back.begin(), back.end(), edge.far, [](const SwitchEdge& other, PortNum port) {
            return other.port < port;
          });
      from[channel] = sw;
      to[channel] = edge.to;
      reverse[channel] = graph.first_edge(edge.to) + static_cast<Channel>(found - back.begin());
      ++channel;
    }
  }
  first.push_back(static_cast<std::uint32_t>(graph.edge_count()));
  words = static_cast<std::uint32_t>((most + 63) / 64);
}

}  // namespace smd

#include "smd/routing/graph/channels.h"

#include <algorithm>

namespace smd {

Dependencies::Dependencies(const SwitchGraph& graph) {
  const auto switches = static_cast<std::uint32_t>(graph.switches());
  to_.reserve(graph.edge_count());
  for (std::uint32_t sw = 0; sw < switches; ++sw) {
    first_.push_back(graph.first_edge(SwitchIdx{sw}));
    for (const SwitchEdge& edge : graph.edges(SwitchIdx{sw})) to_.push_back(edge.to.value());
  }
  first_.push_back(static_cast<Channel>(graph.edge_count()));

  first_word_.reserve(graph.edge_count() + 1);
  first_out_.reserve(graph.edge_count());
  for (Channel channel = 0; channel < channels(); ++channel) {
    first_word_.push_back(words());
    first_out_.push_back(first_[to_[channel]]);
    const std::uint32_t next_ones = first_[to_[channel] + 1] - first_[to_[channel]];
    owner_.insert(owner_.end(), (next_ones + 63) / 64, channel);
  }
  first_word_.push_back(words());
}

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
          back.begin(), back.end(), edge.peer_port, [](const SwitchEdge& other, PortNum port) {
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

#include "smd/routing/layers/dependencies.h"

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

}  // namespace smd

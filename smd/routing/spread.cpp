#include "smd/routing/spread.h"

#include <algorithm>
#include <array>

namespace smd {

Spread::Spread(const SwitchGraph& graph, const Targets& targets)
    : graph_(graph),
      targets_(targets),
      edge_port_(graph.edge_count()),
      edge_to_(graph.edge_count()),
      load_(graph.edge_count(), 0),
      weight_(targets.hosts) {
  for (const SwitchIdx sw : targets.hosts.indices()) {
    std::uint32_t at = graph.first_edge(sw);
    for (const SwitchEdge& edge : graph.edges(sw)) {
      edge_port_[at] = edge.port.value();
      edge_to_[at++] = edge.to.value();
    }
    hosts_exist_ = hosts_exist_ || targets.hosts[sw] != 0;
  }
  // Without hosts the switches themselves are all the traffic there is.
  if (!hosts_exist_) weight_.assign(targets.hosts.size(), 1);
}

void Spread::begin_offset() { std::fill(load_.begin(), load_.end(), 0); }

void Spread::serve(SwitchIdx destination,
                   const NextHops& hops,
                   unsigned offset,
                   ForwardingTables& tables) {
  wanted_.clear();
  for (const Target& target : targets_.of[destination]) {
    if (offset >= 1u << target.lmc) continue;
    const Lid lid{static_cast<std::uint16_t>(target.base.value() + offset)};
    wanted_.push_back({lid, target.base, target.host, target.exit});
    tables.set_route(destination, lid, target.exit);
  }
  const std::size_t count = wanted_.size();
  flow_.assign(graph_.switches() * count, 0);

  for (std::size_t i = 0; i < hops.order.size(); ++i) {
    const SwitchIdx sw = hops.order[i];
    const std::uint32_t* const edges = hops.edges.data() + hops.first[i];
    const std::size_t ways = hops.first[i + 1] - hops.first[i];
    const std::uint32_t* const flow = flow_.data() + sw.value() * count;

    if (ways == 1) {
      const std::uint32_t edge = *edges;
      std::uint32_t* const onward = flow_.data() + edge_to_[edge] * count;
      const PortNum port{edge_port_[edge]};
      for (std::size_t j = 0; j < count; ++j) {
        tables.set_route(sw, wanted_[j].lid, port);
        if (!wanted_[j].host && hosts_exist_) continue;
        const std::uint32_t paths = flow[j] + weight_[sw];
        onward[j] += paths;
        load_[edge] += paths;
      }
      continue;
    }

    // A key is the load (56 bits) and the way's place among the ways (8 bits): one comparison
    // finds the least loaded way, and of those the lowest port.
    keys_.resize(ways);
    for (std::size_t w = 0; w < ways; ++w) keys_[w] = load_[edges[w]] << 8 | w;
    for (std::size_t j = 0; j < count; ++j) {
      std::uint64_t best = keys_[0];
      if (offset == 0) {
        for (std::size_t w = 1; w < ways; ++w) best = std::min(best, keys_[w]);
      } else {
        best = find_fresh(sw, wanted_[j].base, offset, {edges, ways}, tables);
      }
      const std::size_t way = best & 0xff;
      tables.set_route(sw, wanted_[j].lid, PortNum{edge_port_[edges[way]]});
      if (!wanted_[j].host && hosts_exist_) continue;
      const std::uint32_t paths = flow[j] + weight_[sw];
      flow_[edge_to_[edges[way]] * count + j] += paths;
      keys_[way] += std::uint64_t{paths} << 8;
    }
    for (std::size_t w = 0; w < ways; ++w) load_[edges[w]] = keys_[w] >> 8;
  }
}

std::uint64_t Spread::find_fresh(SwitchIdx sw,
                                 Lid base,
                                 unsigned offset,
                                 std::span<const std::uint32_t> edges,
                                 const ForwardingTables& tables) const {
  std::array<std::uint8_t, 256> uses{};  // by port, over the lower offsets
  for (unsigned o = 0; o < offset; ++o)
    ++uses[tables.route(sw, Lid{static_cast<std::uint16_t>(base.value() + o)}).value()];
  std::size_t best = 0;
  for (std::size_t w = 1; w < edges.size(); ++w) {
    const std::uint8_t best_uses = uses[edge_port_[edges[best]]];
    const std::uint8_t own_uses = uses[edge_port_[edges[w]]];
    if (own_uses < best_uses || (own_uses == best_uses && keys_[w] < keys_[best])) best = w;
  }
  return keys_[best];
}

double Spread::sum_of_squares() const {
  double sum = 0;
  for (const std::uint64_t load : load_)
    sum += static_cast<double>(load) * static_cast<double>(load);
  return sum;
}

unsigned highest_lmc(const Targets& targets) {
  unsigned highest = 0;
  for (const std::vector<Target>& at_switch : targets.of) {
    for (const Target& target : at_switch) highest = std::max<unsigned>(highest, target.lmc);
  }
  return highest;
}

}  // namespace smd

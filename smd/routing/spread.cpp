#include "smd/routing/spread.h"

#include <algorithm>
#include <array>
#include <utility>

namespace smd {

namespace {

// Two chains of comparisons, so that one need not wait for the other.
std::uint64_t find_least(const std::uint64_t* keys, std::size_t count) {
  std::uint64_t even = keys[0], odd = keys[count - 1];
  for (std::size_t i = 1; i + 1 < count; i += 2) {
    even = std::min(even, keys[i]);
    odd = std::min(odd, keys[i + 1]);
  }
  return std::min(even, odd);
}

}  // namespace

Spread::Spread(const SwitchGraph& graph, const Targets& targets)
    : Spread(graph, targets, std::vector<std::uint32_t>(graph.edge_count(), 1)) {}

Spread::Spread(const SwitchGraph& graph, const Targets& targets, std::vector<std::uint32_t> costs)
    : graph_(graph),
      targets_(targets),
      edge_port_(graph.edge_count()),
      edge_to_(graph.edge_count()),
      load_(graph.edge_count(), 0),
      cost_(std::move(costs)),
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
    const bool counts = target.host || !hosts_exist_;
    wanted_.push_back({lid, target.base, counts ? target.draws : 0, target.exit});
    tables.set_route(destination, lid, target.exit);
  }
  const std::size_t count = wanted_.size();
  flow_.assign(graph_.switches() * count, 0);

  // Every switch has its entries in another page, which takes longer to reach than to fill.
  const auto fetch = [&](std::size_t i) {
    if (count == 0 || i >= hops.order.size()) return;
    const PortNum* const row = tables.row(hops.order[i]).data();
    __builtin_prefetch(row + wanted_.front().lid.value(), 1);
    __builtin_prefetch(row + wanted_[count / 2].lid.value(), 1);
    __builtin_prefetch(row + wanted_.back().lid.value(), 1);
  };
  constexpr std::size_t kAhead = 8;
  for (std::size_t i = 0; i < kAhead; ++i) fetch(i);
  for (std::size_t i = 0; i < hops.order.size(); ++i) {
    fetch(i + kAhead);
    const SwitchIdx sw = hops.order[i];
    const std::uint32_t* const edges = hops.edges.data() + hops.first[i];
    const std::size_t ways = hops.first[i + 1] - hops.first[i];
    const std::uint32_t* const flow = flow_.data() + sw.value() * count;
    // Entries are bytes, which the compiler takes for anything: what it would read again after
    // each of them is kept here.
    PortNum* const row = tables.row(sw).data();
    const Wanted* const wanted = wanted_.data();
    const std::uint32_t own = weight_[sw];

    if (ways == 1) {
      const std::uint32_t edge = *edges;
      std::uint32_t* const onward = flow_.data() + edge_to_[edge] * count;
      const PortNum port{edge_port_[edge]};
      std::uint64_t load = 0;
      for (std::size_t j = 0; j < count; ++j) {
        row[wanted[j].lid.value()] = port;
        if (wanted[j].draws == 0) continue;
        const std::uint32_t paths = flow[j] + own;
        onward[j] += paths;
        load += std::uint64_t{paths} * wanted[j].draws;
      }
      load_[edge] += load * cost_[edge];
      continue;
    }

    // A key is the load (56 bits) and the way's place among the ways (8 bits): one comparison
    // finds the least loaded way, and of those the lowest port.
    keys_.resize(ways);
    std::uint64_t* const keys = keys_.data();
    std::uint32_t* const flows = flow_.data();
    const std::uint8_t* const ports = edge_port_.data();
    const std::uint32_t* const far = edge_to_.data();
    const std::uint32_t* const costs = cost_.data();
    for (std::size_t w = 0; w < ways; ++w) keys[w] = load_[edges[w]] << 8 | w;
    for (std::size_t j = 0; j < count; ++j) {
      const std::uint64_t best =
          offset == 0 ? find_least(keys, ways)
                      : find_fresh(sw, wanted[j].base, offset, {edges, ways}, tables);
      const std::size_t way = best & 0xff;
      row[wanted[j].lid.value()] = PortNum{ports[edges[way]]};
      if (wanted[j].draws == 0) continue;
      const std::uint32_t paths = flow[j] + own;
      flows[far[edges[way]] * count + j] += paths;
      keys[way] += std::uint64_t{paths} * wanted[j].draws * costs[edges[way]] << 8;
    }
    for (std::size_t w = 0; w < ways; ++w) load_[edges[w]] = keys[w] >> 8;
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

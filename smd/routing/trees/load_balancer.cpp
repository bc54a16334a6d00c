#include "smd/routing/trees/load_balancer.h"

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

// So few that the least of them is found at once.
constexpr std::size_t kFewCandidates = 3;

bool are_equal(std::span<const std::uint32_t> values) {
  std::uint32_t differ = 0;
  for (const std::uint32_t value : values) differ |= value ^ values[0];
  return differ == 0;
}

}  // namespace

LoadBalancer::LoadBalancer(const SwitchGraph& graph, const Targets& targets)
    : LoadBalancer(graph, targets, std::vector<std::uint32_t>(graph.edge_count(), 1)) {}

LoadBalancer::LoadBalancer(const SwitchGraph& graph,
                           const Targets& targets,
                           std::vector<std::uint32_t> costs)
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
  even_ = std::all_of(cost_.begin(), cost_.end(), [](std::uint32_t cost) { return cost == 1; });
  // Without hosts the switches themselves are all the traffic there is.
  if (!hosts_exist_) weight_.assign(targets.hosts.size(), 1);
}

void LoadBalancer::begin_offset() {
  std::fill(load_.begin(), load_.end(), 0);
  choices_ = forced_ = 0;
}

// Those that carry no weight first.
void LoadBalancer::collect_wanted(SwitchIdx destination,
                                  unsigned offset,
                                  ForwardingTables& tables) {
  wanted_.clear();
  silent_ = 0;
  alike_ = true;
  for (const Target& target : targets_.of[destination]) {
    if (offset >= 1u << target.lmc) continue;
    const Lid lid{static_cast<std::uint16_t>(target.base.value() + offset)};
    tables.set_route(destination, lid, target.egress);
    const bool counts = (target.host || !hosts_exist_) && target.demand != 0;
    if (counts) {
      wanted_.push_back({lid, target.base, target.demand});
      alike_ = alike_ && target.demand == 1;
    } else {
      wanted_.insert(wanted_.begin() + static_cast<std::ptrdiff_t>(silent_++),
                     {lid, target.base, 0});
    }
  }
}

void LoadBalancer::assign(SwitchIdx destination,
                          const NextHops& hops,
                          unsigned offset,
                          ForwardingTables& tables) {
  assign_with(destination, hops, offset, false, tables);
}

void LoadBalancer::assign_again(SwitchIdx destination,
                                const NextHops& hops,
                                unsigned offset,
                                ForwardingTables& tables) {
  assign_with(destination, hops, offset, true, tables);
}

bool LoadBalancer::is_worth_second_pass() const {
  std::uint64_t most = 0, sum = 0, used = 0;
  for (const std::uint64_t load : load_) {
    most = std::max(most, load);
    sum += load;
    used += load != 0;
  }
  return 4 * most * used > 5 * sum && 3 * forced_ >= choices_;
}

void LoadBalancer::assign_with(SwitchIdx destination,
                               const NextHops& hops,
                               unsigned offset,
                               bool again,
                               ForwardingTables& tables) {
  collect_wanted(destination, offset, tables);
  if (wanted_.empty()) return;
  flow_.assign(graph_.switches() * (wanted_.size() - silent_), 0);
  if (again) former_.assign(flow_.size(), 0);

  // Every switch has its entries in another page, which takes longer to reach than to fill.
  const auto fetch = [&](std::size_t i) {
    if (i >= hops.order.size()) return;
    const PortNum* const row = tables.row(hops.order[i]).data();
    __builtin_prefetch(row + wanted_.front().lid.value(), 1);
    __builtin_prefetch(row + wanted_[wanted_.size() / 2].lid.value(), 1);
    __builtin_prefetch(row + wanted_.back().lid.value(), 1);
  };
  constexpr std::size_t kAhead = 8;
  for (std::size_t i = 0; i < kAhead; ++i) fetch(i);
  for (std::size_t i = 0; i < hops.order.size(); ++i) {
    fetch(i + kAhead);
    const std::span<const std::uint32_t> candidates{hops.edges.data() + hops.first[i],
                                                    hops.edges.data() + hops.first[i + 1]};
    // Nobody but this switch lays anything over its channels: the rest is known by now.
    if (again) take_back_load(hops.order[i], candidates, tables);
    ++choices_;
    forced_ += candidates.size() == 1;
    if (candidates.size() == 1) {
      send_all(hops.order[i], candidates[0], tables);
    } else if (offset == 0 && wanted_.size() - silent_ <= 1) {
      send_all(hops.order[i], find_lightest(candidates), tables);
    } else if (offset == 0) {
      send_by_load(hops.order[i], candidates, tables);
    } else {
      send_to_least_used(hops.order[i], candidates, offset, tables);
    }
  }
}

void LoadBalancer::take_back_load(SwitchIdx sw,
                                  std::span<const std::uint32_t> candidates,
                                  const ForwardingTables& tables) {
  for (const std::uint32_t edge : candidates) edge_of_[edge_port_[edge]] = edge;
  const PortNum* const row = tables.row(sw).data();
  const Wanted* const wanted = wanted_.data() + silent_;
  const std::size_t count = wanted_.size() - silent_;
  const std::uint32_t* const flow = former_.data() + sw.value() * count;
  const std::uint32_t own = weight_[sw];
  for (std::size_t j = 0; j < count; ++j) {
    const std::uint32_t edge = edge_of_[row[wanted[j].lid.value()].value()];
    const std::uint32_t paths = flow[j] + own;
    former_[edge_to_[edge] * count + j] += paths;
    load_[edge] -= std::uint64_t{paths} * wanted[j].demand * cost_[edge];
  }
}

// Entries are bytes, which the compiler takes for anything: what it would read again after each of
// them is kept in local variables, here and below.
void LoadBalancer::send_all(SwitchIdx sw, std::uint32_t edge, ForwardingTables& tables) {
  PortNum* const row = tables.mutable_row(sw).data();
  const PortNum port{edge_port_[edge]};
  const Wanted* wanted = wanted_.data();
  for (std::size_t i = 0; i < silent_; ++i) row[wanted++->lid.value()] = port;
  const std::size_t count = wanted_.size() - silent_;
  const std::uint32_t* const flow = flow_.data() + sw.value() * count;
  std::uint32_t* const onward = flow_.data() + edge_to_[edge] * count;
  const std::uint32_t own = weight_[sw];
  std::uint64_t load = 0;
  for (std::size_t j = 0; j < count; ++j) {
    row[wanted[j].lid.value()] = port;
    const std::uint32_t paths = flow[j] + own;
    onward[j] += paths;
    load += std::uint64_t{paths} * wanted[j].demand;
  }
  load_[edge] += load * cost_[edge];
}

std::uint32_t LoadBalancer::find_lightest(std::span<const std::uint32_t> candidates) const {
  std::uint32_t best = candidates[0];
  std::uint64_t least = load_[best];
  for (const std::uint32_t edge : candidates.subspan(1)) {
    const std::uint64_t load = load_[edge];
    best = load < least ? edge : best;
    least = std::min(load, least);
  }
  return best;
}

void LoadBalancer::send_by_load(SwitchIdx sw,
                                std::span<const std::uint32_t> candidates,
                                ForwardingTables& tables) {
  const std::size_t count = wanted_.size() - silent_;
  const std::uint32_t* const edges = candidates.data();
  std::uint32_t* const flows = flow_.data();
  const std::uint32_t* const flow = flows + sw.value() * count;
  const std::uint8_t* const ports = edge_port_.data();
  const std::uint32_t* const to = edge_to_.data();
  const std::uint32_t* const costs = cost_.data();
  PortNum* const row = tables.mutable_row(sw).data();
  const std::uint32_t own = weight_[sw];
  std::uint64_t* const keys = keys_.data();
  for (std::size_t w = 0; w < candidates.size(); ++w) keys[w] = load_[edges[w]] << 8 | w;

  std::uint64_t best = find_least(keys, candidates.size());
  const Wanted* wanted = wanted_.data();
  for (std::size_t i = 0; i < silent_; ++i)
    row[wanted++->lid.value()] = PortNum{ports[edges[best & 0xff]]};
  if (candidates.size() > kFewCandidates && alike_ && even_ && are_equal({flow, count}) &&
      round_robin(sw, candidates, row))
    return;
  for (std::size_t j = 0; j < count; ++j) {
    const std::size_t candidate = best & 0xff;
    row[wanted[j].lid.value()] = PortNum{ports[edges[candidate]]};
    const std::uint32_t paths = flow[j] + own;
    if (paths == 0) continue;
    flows[to[edges[candidate]] * count + j] += paths;
    keys[candidate] += std::uint64_t{paths} * wanted[j].demand * costs[edges[candidate]] << 8;
    if (j + 1 < count) best = find_least(keys, candidates.size());
  }
  for (std::size_t w = 0; w < candidates.size(); ++w) load_[edges[w]] = keys[w] >> 8;
}

// The same as by load, in fewer steps, where every LID adds as much and the paths differ by that
// much if at all: first those behind, then all of them round and round.
bool LoadBalancer::round_robin(SwitchIdx sw,
                               std::span<const std::uint32_t> candidates,
                               PortNum* row) {
  const std::size_t count = wanted_.size() - silent_;
  const Wanted* const wanted = wanted_.data() + silent_;
  const std::uint32_t step = flow_[sw.value() * count] + weight_[sw];
  std::uint64_t least = load_[candidates[0]];
  for (const std::uint32_t edge : candidates) least = std::min(least, load_[edge]);
  std::array<std::uint32_t, 512> turns;
  std::size_t turn = 0, behind = 0;
  for (const std::uint32_t edge : candidates) {
    if (load_[edge] == least) {
      turns[behind++] = edge;
    } else if (load_[edge] != least + step) {
      return false;
    }
  }
  std::copy(
      candidates.begin(), candidates.end(), turns.begin() + static_cast<std::ptrdiff_t>(behind));
  const std::uint8_t* const ports = edge_port_.data();
  const std::uint32_t* const to = edge_to_.data();
  std::uint32_t* const flows = flow_.data();
  std::uint64_t* const loads = load_.data();
  for (std::size_t j = 0; j < count; ++j) {
    const std::uint32_t edge = turns[turn];
    row[wanted[j].lid.value()] = PortNum{ports[edge]};
    flows[to[edge] * count + j] += step;
    loads[edge] += step;
    if (++turn == behind + candidates.size()) turn = behind;
  }
  return true;
}

void LoadBalancer::send_to_least_used(SwitchIdx sw,
                                      std::span<const std::uint32_t> candidates,
                                      unsigned offset,
                                      ForwardingTables& tables) {
  const std::size_t count = wanted_.size() - silent_;
  for (std::size_t w = 0; w < candidates.size(); ++w) keys_[w] = load_[candidates[w]] << 8 | w;
  for (std::size_t i = 0; i < wanted_.size(); ++i) {
    const Wanted& wanted = wanted_[i];
    const std::size_t candidate =
        find_least_used(sw, wanted.base, offset, candidates, tables) & 0xff;
    const std::uint32_t edge = candidates[candidate];
    tables.set_route(sw, wanted.lid, PortNum{edge_port_[edge]});
    if (i < silent_) continue;
    const std::uint32_t paths = flow_[sw.value() * count + i - silent_] + weight_[sw];
    flow_[edge_to_[edge] * count + i - silent_] += paths;
    keys_[candidate] += std::uint64_t{paths} * wanted.demand * cost_[edge] << 8;
  }
  for (std::size_t w = 0; w < candidates.size(); ++w) load_[candidates[w]] = keys_[w] >> 8;
}

std::uint64_t LoadBalancer::find_least_used(SwitchIdx sw,
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

double LoadBalancer::sum_of_squares() const {
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

std::vector<SwitchIdx> list_served_switches(const Targets& targets) {
  std::vector<SwitchIdx> served;
  for (const SwitchIdx sw : targets.of.indices()) {
    if (!targets.of[sw].empty()) served.push_back(sw);
  }
  return served;
}

}  // namespace smd

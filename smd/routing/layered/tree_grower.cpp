#include "smd/routing/layered/tree_grower.h"

#include <algorithm>
#include <utility>

namespace smd {

IndexVector<SwitchIdx, std::uint32_t> TreePlan::count_trees() const {
  IndexVector<SwitchIdx, std::uint32_t> per_switch(weight_of_source.size(), 0);
  for (const TreeFamily& family : families) per_switch[family.root] += family.trees;
  return per_switch;
}

TreePlan plan_trees(
    const LidMap& lids, const Targets& targets, Lid top, TreePer per, bool sharing) {
  TreePlan plan{.of_lid = TreeOfLid(std::size_t{top.value()} + 1, kNoTree),
                .weight_of_source = targets.hosts.raw()};
  const bool hosts_exist =
      std::ranges::any_of(targets.hosts.raw(), [](std::uint32_t hosts) { return hosts != 0; });
  // Without hosts the switches themselves are all the traffic there is.
  if (!hosts_exist) plan.weight_of_source.assign(targets.hosts.size(), 1);

  std::uint32_t next = 0;
  for (const SwitchIdx sw : targets.of.indices()) {
    const std::size_t first = plan.families.size();
    for (const Target& target : targets.of[sw]) {
      if (!target.host && per == TreePer::EachLid && sharing && targets.of[sw].size() > 1) continue;
      TreeFamily family{.root = sw,
                        .base = target.base,
                        .first_tree = next,
                        .trees = 1u << target.lmc,
                        .weight = hosts_exist ? 0u : 1u};
      if (target.host)
        family.weight = lids.owner_of(target.base) == kNone<PortIdx> ? 0 : target.demand;
      if (per == TreePer::EachSwitch && plan.families.size() > first) {
        TreeFamily& all = plan.families[first];
        all.weight += family.weight;
        if (family.trees > all.trees) all.base = family.base;
        all.trees = std::max(all.trees, family.trees);
      } else {
        plan.families.push_back(family);
      }
      next = plan.families.back().first_tree + plan.families.back().trees;
    }
    // A LID whose port has no family of its own has the trees of the first.
    std::size_t own = first;
    for (const Target& target : targets.of[sw]) {
      const bool named = own < plan.families.size() && plan.families[own].base == target.base;
      const TreeFamily& family = plan.families[named ? own++ : first];
      for (std::uint32_t offset = 0; offset < 1u << target.lmc; ++offset)
        plan.of_lid[target.base.value() + offset] = family.first_tree + offset % family.trees;
    }
  }
  return plan;
}

std::vector<std::uint32_t> compute_slowness(const Fabric& fabric, const SwitchGraph& graph) {
  std::vector<std::uint64_t> mbps;
  mbps.reserve(graph.edge_count());
  std::uint64_t fastest = 1;
  for (const SwitchIdx sw : fabric.switch_node.indices()) {
    for (const SwitchEdge& edge : graph.edges(sw)) {
      const PortIdx port = fabric.port_of(fabric.switch_node[sw], edge.port);
      mbps.push_back(std::uint64_t{std::max(1u, lanes(active_width(fabric.port_info[port])))} *
                     lane_mbps(link_speed(fabric, port)));
      fastest = std::max(fastest, mbps.back());
    }
  }
  std::vector<std::uint32_t> slowness(mbps.size(), kSlownessOfFastest);
  for (std::size_t edge = 0; edge < mbps.size(); ++edge) {
    if (mbps[edge] == 0) continue;
    slowness[edge] =
        static_cast<std::uint32_t>((fastest * kSlownessOfFastest + mbps[edge] / 2) / mbps[edge]);
  }
  return slowness;
}

TreeGrower::TreeGrower(const Fabric& fabric,
                       const SwitchGraph& graph,
                       const TreePlan& plan,
                       InTrees& trees)
    : graph_(graph),
      plan_(plan),
      trees_(trees),
      slowness_(compute_slowness(fabric, graph)),
      load_(graph.edge_count(), 0),
      rank_(graph.switches()),
      distance_(graph.switches()),
      place_(graph.switches()),
      cost_(graph.switches()),
      price_(graph.switches(), 0),
      flow_(graph.switches(), 0),
      passes_(graph.switches(), 0) {
  std::vector<std::pair<Guid, std::uint32_t>> by_guid;
  for (const SwitchIdx sw : fabric.switch_node.indices())
    by_guid.emplace_back(fabric.node_guid[fabric.switch_node[sw]], sw.value());
  std::sort(by_guid.begin(), by_guid.end());
  for (std::uint32_t at = 0; at < by_guid.size(); ++at) rank_[by_guid[at].second] = at;
}

void TreeGrower::aim_at(SwitchIdx root) {
  std::vector<std::uint32_t>& order = trees_.near_to_far(root);
  order.assign(1, root.value());
  std::ranges::fill(distance_, kUnreached);
  std::ranges::fill(place_, kUnreached);
  distance_[root.value()] = 0;
  first_candidate_.assign(1, 0);
  candidates_.clear();
  for (std::size_t at = 0; at < order.size(); ++at) {
    const std::uint32_t sw = order[at];
    place_[sw] = static_cast<std::uint32_t>(at);
    std::uint32_t edge = graph_.first_edge(SwitchIdx{sw});
    std::uint8_t number = 0;
    for (const SwitchEdge& to : graph_.edges(SwitchIdx{sw})) {
      const std::uint32_t neighbour = to.to.value();
      if (distance_[neighbour] == kUnreached) {
        distance_[neighbour] = distance_[sw] + 1;
        order.push_back(neighbour);
      } else if (distance_[neighbour] < distance_[sw]) {
        candidates_.push_back({edge, neighbour, number});
      }
      ++edge;
      ++number;
    }
    first_candidate_.push_back(static_cast<std::uint32_t>(candidates_.size()));
  }
}

void TreeGrower::aim_along(SwitchIdx root, const NextHops& hops) {
  std::vector<std::uint32_t>& order = trees_.near_to_far(root);
  order.assign(1, root.value());
  std::ranges::fill(distance_, kUnreached);
  std::ranges::fill(place_, kUnreached);
  place_[root.value()] = 0;
  first_candidate_.assign(2, 0);
  candidates_.clear();
  for (std::size_t i = hops.order.size(); i-- > 0;) {
    const SwitchIdx sw = hops.order[i];
    place_[sw.value()] = static_cast<std::uint32_t>(order.size());
    order.push_back(sw.value());
    for (std::uint32_t at = hops.first[i]; at < hops.first[i + 1]; ++at) {
      const std::uint32_t edge = hops.edges[at];
      candidates_.push_back({edge,
                             graph_.edge(edge).to.value(),
                             static_cast<std::uint8_t>(edge - graph_.first_edge(sw))});
    }
    first_candidate_.push_back(static_cast<std::uint32_t>(candidates_.size()));
  }
}

void TreeGrower::grow(const TreeFamily& family, std::uint32_t offset, NextHopChoice style) {
  const std::span<std::uint8_t> taken = trees_.slots(family.first_tree + offset);
  const std::vector<std::uint32_t>& order = trees_.near_to_far(family.root);
  cost_[family.root.value()] = 0;
  price_[family.root.value()] = 0;
  for (std::size_t at = 1; at < order.size(); ++at) {
    const Candidate& candidate = choose(family, offset, style, at);
    taken[order[at]] = candidate.number;
    cost_[order[at]] = cost_[candidate.to] + load_[candidate.edge];
    if (!prices_.empty()) price_[order[at]] = price_[candidate.to] + prices_[candidate.edge];
  }
}

std::vector<std::uint32_t> TreeGrower::repair(const TreeFamily& family,
                                              std::uint32_t offset,
                                              NextHopChoice style) {
  const std::span<std::uint8_t> taken = trees_.slots(family.first_tree + offset);
  const std::vector<std::uint32_t>& order = trees_.near_to_far(family.root);
  std::vector<std::uint32_t> changed;
  cost_[family.root.value()] = 0;
  for (std::size_t at = 1; at < order.size(); ++at) {
    const std::uint32_t sw = order[at];
    if (!is_candidate(sw, taken[sw])) {
      taken[sw] = choose(family, offset, style, at).number;
      changed.push_back(sw);
    }
    const std::uint32_t edge = graph_.first_edge(SwitchIdx{sw}) + taken[sw];
    cost_[sw] = cost_[graph_.edge(edge).to.value()] + load_[edge];
  }
  return changed;
}

const TreeGrower::Candidate& TreeGrower::choose(const TreeFamily& family,
                                                std::uint32_t offset,
                                                NextHopChoice style,
                                                std::size_t at) const {
  const std::span<const Candidate> some{candidates_.data() + first_candidate_[at],
                                        candidates_.data() + first_candidate_[at + 1]};
  if (offset != 0) return choose_fresh(family, offset, trees_.near_to_far(family.root)[at], some);
  if (style == NextHopChoice::Guids || style == NextHopChoice::Walk) return choose_cheap(some);
  // What carries nothing need not be spread, and its turns may cost a layer.
  if (family.weight == 0) return choose_same(some);
  return style == NextHopChoice::Order ? choose_first(some) : choose_light(some);
}

bool TreeGrower::is_candidate(std::uint32_t sw, std::uint8_t number) const {
  const std::uint32_t at = place_[sw];
  if (at == kUnreached) return false;
  return std::any_of(candidates_.begin() + first_candidate_[at],
                     candidates_.begin() + first_candidate_[at + 1],
                     [&](const Candidate& candidate) { return candidate.number == number; });
}

bool TreeGrower::is_whole(const TreeFamily& family, std::uint32_t offset) const {
  const std::span<const std::uint8_t> taken = trees_.slots(family.first_tree + offset);
  const std::vector<std::uint32_t>& order = trees_.near_to_far(family.root);
  return std::all_of(order.begin() + 1, order.end(), [&](std::uint32_t sw) {
    return is_candidate(sw, taken[sw]);
  });
}

void TreeGrower::load(const TreeFamily& family, std::uint32_t offset) {
  if (family.weight == 0) return;
  const std::span<const std::uint8_t> taken = trees_.slots(family.first_tree + offset);
  const std::vector<std::uint32_t>& order = trees_.order(family.first_tree + offset);
  for (std::size_t at = order.size(); at-- > 1;) {
    const std::uint32_t sw = order[at];
    const std::uint32_t edge = graph_.first_edge(SwitchIdx{sw}) + taken[sw];
    const std::uint64_t paths = flow_[sw] + plan_.weight_of_source[sw];
    flow_[sw] = 0;
    load_[edge] += paths * family.weight * slowness_[edge];
    flow_[graph_.edge(edge).to.value()] += paths;
  }
  flow_[family.root.value()] = 0;
}

bool TreeGrower::shift(const TreeFamily& family,
                       std::uint32_t offset,
                       SwitchIdx sw,
                       std::uint8_t candidate,
                       const std::function<bool()>& fits) {
  const std::span<std::uint8_t> taken = trees_.slots(family.first_tree + offset);
  const std::uint32_t first = graph_.first_edge(sw);
  if (family.weight == 0 || taken[sw.value()] == candidate ||
      !is_candidate(sw.value(), candidate) ||
      load_[first + candidate] >= load_[first + taken[sw.value()]])
    return false;
  const std::uint64_t paths = count_paths(family, offset, sw) * family.weight;

  // All paths are shortest ones, so the old and the new one meet after as many links.
  const auto follow = [&](std::uint32_t from, std::uint8_t by, auto&& visit) {
    const std::uint32_t edge = graph_.first_edge(SwitchIdx{from}) + by;
    visit(edge, paths * slowness_[edge]);
    return graph_.edge(edge).to.value();
  };
  double gain = 0;  // by how much the sum of the squares of all loads shrinks
  const auto leave = [&](std::uint32_t edge, std::uint64_t flow) {
    gain += static_cast<double>(flow) * static_cast<double>(2 * load_[edge] - flow);
  };
  const auto enter = [&](std::uint32_t edge, std::uint64_t flow) {
    gain -= static_cast<double>(flow) * static_cast<double>(2 * load_[edge] + flow);
  };
  const auto compare = [&](auto&& on_old, auto&& on_new) {
    std::uint32_t old_at = follow(sw.value(), taken[sw.value()], on_old);
    std::uint32_t new_at = follow(sw.value(), candidate, on_new);
    while (old_at != new_at) {
      old_at = follow(old_at, taken[old_at], on_old);
      new_at = follow(new_at, taken[new_at], on_new);
    }
  };
  compare(leave, enter);
  if (gain <= 0 || !fits()) return false;
  compare([&](std::uint32_t edge, std::uint64_t flow) { load_[edge] -= flow; },
          [&](std::uint32_t edge, std::uint64_t flow) { load_[edge] += flow; });
  taken[sw.value()] = candidate;
  return true;
}

std::uint64_t TreeGrower::count_paths(const TreeFamily& family,
                                      std::uint32_t offset,
                                      SwitchIdx through) {
  const std::span<const std::uint8_t> taken = trees_.slots(family.first_tree + offset);
  const std::vector<std::uint32_t>& order = trees_.near_to_far(family.root);
  std::uint64_t paths = 0;
  passes_[family.root.value()] = 0;
  for (std::size_t at = 1; at < order.size(); ++at) {
    const std::uint32_t sw = order[at];
    const std::uint32_t edge = graph_.first_edge(SwitchIdx{sw}) + taken[sw];
    passes_[sw] = sw == through.value() || passes_[graph_.edge(edge).to.value()];
    if (passes_[sw]) paths += plan_.weight_of_source[sw];
  }
  return paths;
}

const TreeGrower::Candidate& TreeGrower::choose_light(std::span<const Candidate> some) const {
  const Candidate* best = some.data();
  std::uint64_t least = cost_[best->to] + load_[best->edge];
  for (const Candidate& candidate : some.subspan(1)) {
    const std::uint64_t cost = cost_[candidate.to] + load_[candidate.edge];
    if (cost >= least) continue;
    least = cost;
    best = &candidate;
  }
  return *best;
}

// The neighbour at the lowest port; its links share the load.
const TreeGrower::Candidate& TreeGrower::choose_first(std::span<const Candidate> some) const {
  const Candidate* best = some.data();
  for (const Candidate& candidate : some.subspan(1)) {
    if (candidate.to == best->to && load_[candidate.edge] < load_[best->edge]) best = &candidate;
  }
  return *best;
}

// The cheapest neighbour, of several the one at the lowest port; its links share the load.
const TreeGrower::Candidate& TreeGrower::choose_cheap(std::span<const Candidate> some) const {
  const auto price = [this](const Candidate& candidate) {
    return price_[candidate.to] + prices_[candidate.edge];
  };
  const Candidate* best = some.data();
  for (const Candidate& candidate : some.subspan(1)) {
    const bool other_link = candidate.to == best->to && load_[candidate.edge] < load_[best->edge];
    if (price(candidate) < price(*best) || other_link) best = &candidate;
  }
  return *best;
}

// The neighbour that others who have it take too.
const TreeGrower::Candidate& TreeGrower::choose_same(std::span<const Candidate> some) const {
  return *std::ranges::min_element(
      some, {}, [this](const Candidate& candidate) { return rank_[candidate.to]; });
}

const TreeGrower::Candidate& TreeGrower::choose_fresh(const TreeFamily& family,
                                                      std::uint32_t offset,
                                                      std::uint32_t sw,
                                                      std::span<const Candidate> some) const {
  const auto measure = [&](const Candidate& candidate) {
    std::uint32_t uses = 0;
    for (std::uint32_t lower = 0; lower < offset; ++lower)
      uses += trees_.slots(family.first_tree + lower)[sw] == candidate.number;
    return std::pair{uses, cost_[candidate.to] + load_[candidate.edge]};
  };
  const Candidate* best = some.data();
  auto least = measure(*best);
  for (const Candidate& candidate : some.subspan(1)) {
    const auto cost = measure(candidate);
    if (cost >= least) continue;
    least = cost;
    best = &candidate;
  }
  return *best;
}

}  // namespace smd

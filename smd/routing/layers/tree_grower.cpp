#include "smd/routing/layers/tree_grower.h"

#include <algorithm>
#include <utility>

namespace smd {

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
  first_way_.assign(1, 0);
  ways_.clear();
  for (std::size_t at = 0; at < order.size(); ++at) {
    const std::uint32_t sw = order[at];
    place_[sw] = static_cast<std::uint32_t>(at);
    std::uint32_t edge = graph_.first_edge(SwitchIdx{sw});
    std::uint8_t number = 0;
    for (const SwitchEdge& to : graph_.edges(SwitchIdx{sw})) {
      const std::uint32_t far = to.to.value();
      if (distance_[far] == kUnreached) {
        distance_[far] = distance_[sw] + 1;
        order.push_back(far);
      } else if (distance_[far] < distance_[sw]) {
        ways_.push_back({edge, far, number});
      }
      ++edge;
      ++number;
    }
    first_way_.push_back(static_cast<std::uint32_t>(ways_.size()));
  }
}

void TreeGrower::aim_along(SwitchIdx root, const NextHops& hops) {
  std::vector<std::uint32_t>& order = trees_.near_to_far(root);
  order.assign(1, root.value());
  std::ranges::fill(place_, kUnreached);
  place_[root.value()] = 0;
  first_way_.assign(2, 0);
  ways_.clear();
  for (std::size_t i = hops.order.size(); i-- > 0;) {
    const SwitchIdx sw = hops.order[i];
    place_[sw.value()] = static_cast<std::uint32_t>(order.size());
    order.push_back(sw.value());
    for (std::uint32_t at = hops.first[i]; at < hops.first[i + 1]; ++at) {
      const std::uint32_t edge = hops.edges[at];
      ways_.push_back({edge,
                       graph_.edge(edge).to.value(),
                       static_cast<std::uint8_t>(edge - graph_.first_edge(sw))});
    }
    first_way_.push_back(static_cast<std::uint32_t>(ways_.size()));
  }
}

void TreeGrower::grow(const TreeFamily& family, std::uint32_t offset, WayChoice style) {
  const std::span<std::uint8_t> taken = trees_.ways(family.first_tree + offset);
  const std::vector<std::uint32_t>& order = trees_.near_to_far(family.root);
  cost_[family.root.value()] = 0;
  price_[family.root.value()] = 0;
  for (std::size_t at = 1; at < order.size(); ++at) {
    const Way& way = choose(family, offset, style, at);
    taken[order[at]] = way.number;
    cost_[order[at]] = cost_[way.to] + load_[way.edge];
    if (!prices_.empty()) price_[order[at]] = price_[way.to] + prices_[way.edge];
  }
}

std::vector<std::uint32_t> TreeGrower::mend(const TreeFamily& family,
                                            std::uint32_t offset,
                                            WayChoice style) {
  const std::span<std::uint8_t> taken = trees_.ways(family.first_tree + offset);
  const std::vector<std::uint32_t>& order = trees_.near_to_far(family.root);
  std::vector<std::uint32_t> mended;
  cost_[family.root.value()] = 0;
  for (std::size_t at = 1; at < order.size(); ++at) {
    const std::uint32_t sw = order[at];
    if (!is_way(sw, taken[sw])) {
      taken[sw] = choose(family, offset, style, at).number;
      mended.push_back(sw);
    }
    const std::uint32_t edge = graph_.first_edge(SwitchIdx{sw}) + taken[sw];
    cost_[sw] = cost_[graph_.edge(edge).to.value()] + load_[edge];
  }
  return mended;
}

const TreeGrower::Way& TreeGrower::choose(const TreeFamily& family,
                                          std::uint32_t offset,
                                          WayChoice style,
                                          std::size_t at) const {
  const std::span<const Way> some{ways_.data() + first_way_[at], ways_.data() + first_way_[at + 1]};
  if (offset != 0) return choose_fresh(family, offset, trees_.near_to_far(family.root)[at], some);
  if (style == WayChoice::Guids || style == WayChoice::Walk) return choose_cheap(some);
  // What carries nothing need not be spread, and its turns may cost a lane.
  if (family.weight == 0) return choose_same(some);
  return style == WayChoice::Order ? choose_first(some) : choose_light(some);
}

bool TreeGrower::is_way(std::uint32_t sw, std::uint8_t number) const {
  const std::uint32_t at = place_[sw];
  if (at == kUnreached) return false;
  return std::any_of(ways_.begin() + first_way_[at],
                     ways_.begin() + first_way_[at + 1],
                     [&](const Way& way) { return way.number == number; });
}

bool TreeGrower::is_whole(const TreeFamily& family, std::uint32_t offset) const {
  const std::span<const std::uint8_t> taken = trees_.ways(family.first_tree + offset);
  const std::vector<std::uint32_t>& order = trees_.near_to_far(family.root);
  return std::all_of(
      order.begin() + 1, order.end(), [&](std::uint32_t sw) { return is_way(sw, taken[sw]); });
}

void TreeGrower::load(const TreeFamily& family, std::uint32_t offset) {
  if (family.weight == 0) return;
  const std::span<const std::uint8_t> taken = trees_.ways(family.first_tree + offset);
  const std::vector<std::uint32_t>& order = trees_.near_to_far(family.root);
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
                       std::uint8_t way) {
  const std::span<std::uint8_t> taken = trees_.ways(family.first_tree + offset);
  const std::uint32_t first = graph_.first_edge(sw);
  if (family.weight == 0 || taken[sw.value()] == way || !is_way(sw.value(), way) ||
      load_[first + way] >= load_[first + taken[sw.value()]])
    return false;
  const std::uint64_t paths = count_paths(family, offset, sw) * family.weight;

  // All ways are shortest ones, so the old and the new one meet after as many links.
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
    std::uint32_t new_at = follow(sw.value(), way, on_new);
    while (old_at != new_at) {
      old_at = follow(old_at, taken[old_at], on_old);
      new_at = follow(new_at, taken[new_at], on_new);
    }
  };
  compare(leave, enter);
  if (gain <= 0) return false;
  compare([&](std::uint32_t edge, std::uint64_t flow) { load_[edge] -= flow; },
          [&](std::uint32_t edge, std::uint64_t flow) { load_[edge] += flow; });
  taken[sw.value()] = way;
  return true;
}

std::uint64_t TreeGrower::count_paths(const TreeFamily& family,
                                      std::uint32_t offset,
                                      SwitchIdx through) {
  const std::span<const std::uint8_t> taken = trees_.ways(family.first_tree + offset);
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

const TreeGrower::Way& TreeGrower::choose_light(std::span<const Way> some) const {
  const Way* best = some.data();
  std::uint64_t least = cost_[best->to] + load_[best->edge];
  for (const Way& way : some.subspan(1)) {
    const std::uint64_t cost = cost_[way.to] + load_[way.edge];
    if (cost >= least) continue;
    least = cost;
    best = &way;
  }
  return *best;
}

// The neighbour at the lowest port; its cables share the load.
const TreeGrower::Way& TreeGrower::choose_first(std::span<const Way> some) const {
  const Way* best = some.data();
  for (const Way& way : some.subspan(1)) {
    if (way.to == best->to && load_[way.edge] < load_[best->edge]) best = &way;
  }
  return *best;
}

// The cheapest neighbour, of several the one at the lowest port; its cables share the load.
const TreeGrower::Way& TreeGrower::choose_cheap(std::span<const Way> some) const {
  const auto price = [this](const Way& way) { return price_[way.to] + prices_[way.edge]; };
  const Way* best = some.data();
  for (const Way& way : some.subspan(1)) {
    const bool other_cable = way.to == best->to && load_[way.edge] < load_[best->edge];
    if (price(way) < price(*best) || other_cable) best = &way;
  }
  return *best;
}

// The neighbour that others who have it take too.
const TreeGrower::Way& TreeGrower::choose_same(std::span<const Way> some) const {
  return *std::ranges::min_element(some, {}, [this](const Way& way) { return rank_[way.to]; });
}

const TreeGrower::Way& TreeGrower::choose_fresh(const TreeFamily& family,
                                                std::uint32_t offset,
                                                std::uint32_t sw,
                                                std::span<const Way> some) const {
  const auto measure = [&](const Way& way) {
    std::uint32_t uses = 0;
    for (std::uint32_t lower = 0; lower < offset; ++lower)
      uses += trees_.ways(family.first_tree + lower)[sw] == way.number;
    return std::pair{uses, cost_[way.to] + load_[way.edge]};
  };
  const Way* best = some.data();
  auto least = measure(*best);
  for (const Way& way : some.subspan(1)) {
    const auto cost = measure(way);
    if (cost >= least) continue;
    least = cost;
    best = &way;
  }
  return *best;
}

}  // namespace smd

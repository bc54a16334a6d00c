#include "smd/routing/nue/planner.h"

#include <algorithm>
#include <array>
#include <span>

#include "smd/routing/updn/islands.h"

namespace smd {
namespace {

using Distances = IndexVector<SwitchIdx, std::uint32_t>;

constexpr std::size_t kCentreSample = 16;

class Splitter {
 public:
  Splitter(const SwitchGraph& graph, std::size_t parts) : graph_(graph), parts_(parts) {}

  std::vector<std::vector<SwitchIdx>> split(std::vector<SwitchIdx>& switches) {
    halve(switches, 0, parts_.size());
    return std::move(parts_);
  }

 private:
  void halve(std::span<SwitchIdx> switches, std::size_t first, std::size_t parts) {
    if (switches.empty()) return;
    if (parts == 1) {
      parts_[first] = order_from_centre(switches);
      return;
    }
    const Distances from_one = measure(find_farthest(switches, measure(switches.front())));
    const Distances from_other = measure(find_farthest(switches, from_one));
    const auto side = [&](SwitchIdx sw) {
      return static_cast<std::int64_t>(from_one[sw]) - static_cast<std::int64_t>(from_other[sw]);
    };
    std::ranges::stable_sort(switches, {}, side);
    const std::size_t left_parts = (parts + 1) / 2;
    const std::size_t left = (switches.size() * left_parts + parts - 1) / parts;
    halve(switches.first(left), first, left_parts);
    halve(switches.subspan(left), first + left_parts, parts - left_parts);
  }

  [[nodiscard]] Distances measure(SwitchIdx from) const {
    return compute_distances(graph_, {&from, 1});
  }

  static SwitchIdx find_farthest(std::span<const SwitchIdx> switches, const Distances& distance) {
    return *std::ranges::max_element(switches, {}, [&](SwitchIdx sw) { return distance[sw]; });
  }

  [[nodiscard]] std::vector<SwitchIdx> order_from_centre(std::span<const SwitchIdx> part) const {
    const std::size_t looked_at = std::min(part.size(), kCentreSample);
    Distances best;
    std::uint64_t least = ~std::uint64_t{0};
    for (std::size_t i = 0; i < looked_at; ++i) {
      Distances distance = measure(part[i * part.size() / looked_at]);
      std::uint64_t sum = 0;
      for (const SwitchIdx sw : part) sum += distance[sw];
      if (sum >= least) continue;
      least = sum;
      best = std::move(distance);
    }
    std::vector<SwitchIdx> ordered{part.begin(), part.end()};
    std::ranges::stable_sort(ordered, {}, [&](SwitchIdx sw) { return best[sw]; });
    return ordered;
  }

  const SwitchGraph& graph_;
  std::vector<std::vector<SwitchIdx>> parts_;
};

constexpr std::size_t kNoRow = ~std::size_t{0};

// How often the switches that a tree leaves out are given escape routes before all are.
constexpr int kEscapeRounds = 6;

// Layers on which a switch without shortest routes is tried, beginning with its neighbourhood's.
constexpr unsigned kMostLayersTried = 2;

// How far apart destinations are that follow each other.
constexpr std::array<std::size_t, 2> kStrides{2, 6};

}  // namespace

std::vector<std::vector<SwitchIdx>> split_by_locality(const SwitchGraph& graph,
                                                      std::vector<SwitchIdx> switches,
                                                      std::size_t parts) {
  return Splitter{graph, parts}.split(switches);
}

NuePlanner::NuePlanner(const SwitchGraph& graph,
                       const Channels& channels,
                       const Targets& targets,
                       const std::vector<std::uint32_t>& costs)
    : graph_(graph),
      channels_(channels),
      targets_(targets),
      costs_(costs),
      drawn_(graph.switches(), 0),
      islands_(find_islands(graph)),
      island_of_(graph.switches(), 0),
      row_of_(graph.switches(), kNoRow),
      layer_of_(graph.switches(), 0),
      growth_(channels),
      priced_(channels),
      settled_(graph.switches(), kUnreached),
      flow_(graph.switches(), 0) {
  for (std::uint32_t i = 0; i < islands_.size(); ++i) {
    for (const SwitchIdx sw : islands_[i]) island_of_[sw] = i;
  }
  for (const SwitchIdx sw : targets.of.indices()) {
    for (const Target& target : targets.of[sw]) drawn_[sw] += target.host ? target.demand : 0;
  }
}

NuePlanner::Homes NuePlanner::begin(unsigned layers) {
  layers_.clear();
  planned_.clear();
  slots_.clear();
  row_of_.assign(channels_.switches(), kNoRow);
  detours_.assign(channels_.switches(), 0);
  load_.assign(channels_.size(), 0);
  links_ = 0;
  price_.clear();

  Homes homes{.by_layer = std::vector<std::vector<SwitchIdx>>(layers), .without_hosts = {}};
  std::vector<std::vector<SwitchIdx>> roots(layers);  // one per island
  for (const std::vector<SwitchIdx>& island : islands_) {
    std::vector<SwitchIdx> with_hosts;
    for (const SwitchIdx sw : island) {
      if (!targets_.of[sw].empty())
        (targets_.hosts[sw] != 0 ? with_hosts : homes.without_hosts).push_back(sw);
    }
    const bool none = with_hosts.empty();
    const auto parts = split_by_locality(graph_, none ? island : std::move(with_hosts), layers);
    for (unsigned layer = 0; layer < layers; ++layer) {
      roots[layer].push_back(parts[layer].empty() ? island.front() : parts[layer].front());
      if (none) continue;
      std::vector<SwitchIdx>& home = homes.by_layer[layer];
      home.insert(home.end(), parts[layer].begin(), parts[layer].end());
    }
  }
  for (const std::vector<SwitchIdx>& of_layer : roots) {
    EscapeTree escape{channels_, of_layer};
    TurnSet turns{channels_, escape.list_channels()};
    TreeTurns counts{channels_};
    for (const auto& [in, out] : escape.list_turns()) {
      turns.add(in, out);
      counts.add(in, out);
    }
    turns.keep();
    layers_.push_back({std::move(turns), std::move(escape), std::move(counts)});
  }
  return homes;
}

bool NuePlanner::plan(unsigned layers, bool shortest) {
  even_ = false;
  return plan(begin(layers), shortest, ~std::uint64_t{0});
}

bool NuePlanner::plan_in_strides(std::size_t stride, std::uint64_t most) {
  even_ = true;
  Homes homes = begin(1);
  std::vector<SwitchIdx>& home = homes.by_layer.front();
  std::ranges::sort(home);
  std::vector<SwitchIdx> ordered;
  for (std::size_t first = 0; first < std::min(stride, home.size()); ++first) {
    for (std::size_t at = first; at < home.size(); at += stride) ordered.push_back(home[at]);
  }
  home = std::move(ordered);
  return plan(homes, false, most);
}

bool NuePlanner::plan(const Homes& homes, bool shortest, std::uint64_t most_links) {
  const auto layers = static_cast<unsigned>(layers_.size());
  std::vector<SwitchIdx> late, longer;
  for (unsigned layer = 0; layer < layers; ++layer) {
    for (const SwitchIdx destination : homes.by_layer[layer]) {
      if (plan_shortest(destination, layer)) continue;
      if (shortest) return false;
      layer_of_[destination] = static_cast<std::uint8_t>(layer);
      late.push_back(destination);
    }
  }
  for (const SwitchIdx destination : late) {
    const unsigned home = layer_of_[destination];
    bool found = false;
    for (unsigned step = 1; step < layers && !found; ++step)
      found = plan_shortest(destination, (home + step) % layers);
    if (!found) longer.push_back(destination);
  }
  for (const SwitchIdx destination : longer) {
    if (even_) {
      complete(destination, layers_.front());
      accept(destination, 0);
    } else {
      plan_least_detour(destination);
    }
    if (links_ > most_links) return false;
  }
  for (std::size_t i = 0; i < homes.without_hosts.size(); ++i) {
    const auto layer = static_cast<unsigned>(i % layers);
    complete(homes.without_hosts[i], layers_[layer]);
    accept(homes.without_hosts[i], layer);
  }
  return true;
}

bool NuePlanner::plan_shortest(SwitchIdx destination, unsigned layer) {
  growth_.forget_settled();
  if (!growth_.grow(layers_[layer].turns, destination, load_, {.shortest = true, .even = even_})) {
    layers_[layer].turns.take_back();
    return false;
  }
  accept(destination, layer);
  return true;
}

void NuePlanner::plan_least_detour(SwitchIdx destination) {
  const auto least = compute_distances(graph_, {&destination, 1});
  unsigned best = 0;
  std::uint64_t shortest = ~std::uint64_t{0};
  const unsigned home = layer_of_[destination];
  const auto count = static_cast<unsigned>(layers_.size());
  for (unsigned step = 0; step < std::min(count, kMostLayersTried) && shortest != 0; ++step) {
    const unsigned layer = (home + step) % count;
    complete(destination, layers_[layer]);
    const std::uint64_t detours = measure_detours(least);
    if (count == 1) {
      detours_[destination] = detours;
      return accept(destination, layer);
    }
    layers_[layer].turns.take_back();
    if (detours >= shortest) continue;
    shortest = detours;
    best = layer;
  }
  complete(destination, layers_[best]);
  detours_[destination] = measure_detours(least);
  accept(destination, best);
}

void NuePlanner::complete(SwitchIdx destination, Layer& layer) {
  const std::vector<SwitchIdx>& island = islands_[island_of_[destination]];
  growth_.forget_settled();
  for (const SwitchIdx sw : island) settled_[sw] = kUnreached;
  settled_[destination] = 0;
  layer.escape.aim_at(destination);
  const GrowthRules rules{.fitting = targets_.hosts[destination] == 0, .even = even_};
  for (int round = 0;; ++round) {
    growth_.grow(layer.turns, destination, load_, rules);
    if (growth_.tree().order.size() == island.size()) return;
    layer.turns.take_back();
    for (const SwitchIdx sw : island) {
      if (growth_.tree().depth[sw] == kUnreached || round >= kEscapeRounds)
        settle_along(layer.escape, sw);
    }
  }
}

void NuePlanner::settle_along(const EscapeTree& escape, SwitchIdx sw) {
  walk_.clear();
  for (; settled_[sw] == kUnreached; sw = channels_.to[escape.egress(sw)]) walk_.push_back(sw);
  std::uint32_t depth = settled_[sw];
  for (std::size_t at = walk_.size(); at-- > 0;) {
    settled_[walk_[at]] = ++depth;
    growth_.settle(walk_[at], escape.egress(walk_[at]), depth);
  }
}

void NuePlanner::accept(SwitchIdx destination, unsigned layer, const GrownTree& tree) {
  layers_[layer].turns.keep();
  layer_of_[destination] = static_cast<std::uint8_t>(layer);
  if (row_of_[destination] == kNoRow) {
    row_of_[destination] = planned_.size();
    planned_.push_back(destination);
    slots_.resize(slots_.size() + channels_.switches(), kNoSlot);
  }
  std::uint8_t* const slots = slots_.data() + row_of_[destination] * channels_.switches();
  for (std::size_t at = 1; at < tree.order.size(); ++at) {
    const SwitchIdx sw = tree.order[at];
    slots[sw.value()] = static_cast<std::uint8_t>(channels_.slot(tree.egress[sw]));
  }
  layers_[layer].counts.add(tree);
  change_load(tree, destination, true);
}

void NuePlanner::read(SwitchIdx destination, GrownTree& tree) const {
  const std::uint8_t* const slots = slots_.data() + row_of_[destination] * channels_.switches();
  tree.egress.assign(channels_.switches(), kNoChannel);
  tree.depth.assign(channels_.switches(), kUnreached);
  tree.order.assign(1, destination);
  tree.depth[destination] = 0;
  for (std::size_t at = 0; at < tree.order.size(); ++at) {
    const SwitchIdx sw = tree.order[at];
    for (Channel c = channels_.first[sw.value()]; c < channels_.first[sw.value() + 1]; ++c) {
      const SwitchIdx neighbour = channels_.to[c];
      if (tree.egress[neighbour] != kNoChannel || slots[neighbour.value()] == kNoSlot) continue;
      if (channels_.first[neighbour.value()] + slots[neighbour.value()] != channels_.reverse[c])
        continue;
      tree.egress[neighbour] = channels_.reverse[c];
      tree.depth[neighbour] = tree.depth[sw] + 1;
      tree.order.push_back(neighbour);
    }
  }
}

std::unique_ptr<NuePlanner> plan_single_layer(const SwitchGraph& graph,
                                              const Channels& channels,
                                              const Targets& targets,
                                              const std::vector<std::uint32_t>& costs) {
  auto best = std::make_unique<NuePlanner>(graph, channels, targets, costs);
  if (best->plan(1, true)) {
    best->polish();
    return best;
  }
  std::uint64_t fewest = ~std::uint64_t{0};
  for (const std::size_t stride : kStrides) {
    auto planner = std::make_unique<NuePlanner>(graph, channels, targets, costs);
    if (!planner->plan_in_strides(stride, fewest)) continue;
    fewest = planner->count_links();
    best = std::move(planner);
  }
  best->rebalance();
  return best;
}

}  // namespace smd

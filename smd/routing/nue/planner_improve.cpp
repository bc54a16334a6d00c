// Second thoughts of the planner: once every destination has its tree, some can do with less.

#include <algorithm>
#include <numeric>

#include "smd/routing/nue/planner.h"

namespace smd {
namespace {

// Detours are left alone where they are fewer than one link in so many.
constexpr std::uint64_t kRare = 500;

// Layers on which a tree is grown again, beginning with its own.
constexpr unsigned kMostLayersRetried = 3;

// Trees that do not get shorter, before polishing ends: some, and so many for each that does.
constexpr int kPatience = 32;
constexpr int kPatiencePerSuccess = 4;

// The most that a channel is said to cost, in links: paths of a thousand of them stay below 2^32.
constexpr double kMostLinks = 4000;

// What a channel that carries `load` times the mean costs, besides its paths: kSteepness · load^4.
constexpr double kSteepness = 0.005;

double find_cost(double load) { return kSteepness * load * load * load * load; }

// What a path is asked for a link.
constexpr double kPriceOfALink = 1024;

std::uint32_t find_price(double load) {
  return static_cast<std::uint32_t>(kPriceOfALink *
                                    std::min(1 + 4 * kSteepness * load * load * load, kMostLinks));
}

}  // namespace

std::uint64_t NuePlanner::count_detours() const {
  std::uint64_t detours = 0;
  for (const SwitchIdx destination : planned_)
    detours += detours_[destination] * targets_.hosts[destination];
  return detours;
}

void NuePlanner::polish() {
  if (count_detours() < links_ / kRare) return;
  int patience = kPatience;
  for (const SwitchIdx destination : planned_) {
    if (detours_[destination] == 0) continue;
    patience += reroute(destination) ? kPatiencePerSuccess : -1;
    if (patience < 0) return;
  }
}

bool NuePlanner::reroute(SwitchIdx destination) {
  const auto least = compute_distances(graph_, {&destination, 1});
  read(destination, old_);
  remove(destination, old_);
  growth_.forget_settled();
  const auto grow = [&](unsigned layer) {
    growth_.grow(layers_[layer].turns, destination, load_, {});
    return growth_.tree().order.size() == old_.order.size();
  };
  std::uint64_t fewest = detours_[destination];
  const auto layers = static_cast<unsigned>(layers_.size());
  unsigned best = layers;
  for (unsigned step = 0; step < std::min(layers, kMostLayersRetried) && fewest != 0; ++step) {
    const unsigned layer = (layer_of_[destination] + step) % layers;
    const bool whole = grow(layer);
    layers_[layer].turns.take_back();
    if (!whole || measure_detours(least) >= fewest) continue;
    fewest = measure_detours(least);
    best = layer;
  }
  // Growing again may end otherwise: the order of the channels has changed meanwhile.
  if (best != layers) {
    if (grow(best) && measure_detours(least) < detours_[destination]) {
      detours_[destination] = measure_detours(least);
      accept(destination, best);
      return true;
    }
    layers_[best].turns.take_back();
  }
  put_back(destination, old_);
  return false;
}

void NuePlanner::remove(SwitchIdx destination, const GrownTree& tree) {
  Layer& layer = layers_[layer_of_[destination]];
  layer.counts.remove(tree, layer.turns);
  change_load(tree, destination, false);
}

// The turns of the tree closed no cycle with those that the layer has now.
void NuePlanner::put_back(SwitchIdx destination, const GrownTree& tree) {
  Layer& layer = layers_[layer_of_[destination]];
  for (std::size_t at = 1; at < tree.order.size(); ++at) {
    const Channel in = tree.egress[tree.order[at]];
    const Channel out = tree.egress[channels_.to[in]];
    if (out != kNoChannel) layer.turns.add(in, out);
  }
  layer.turns.keep();
  layer.counts.add(tree);
  change_load(tree, destination, true);
}

std::uint64_t NuePlanner::measure_detours(
    const IndexVector<SwitchIdx, std::uint32_t>& least) const {
  std::uint64_t sum = 0;
  for (const SwitchIdx sw : growth_.tree().order)
    sum += std::uint64_t{targets_.hosts[sw]} * (growth_.tree().depth[sw] - least[sw]);
  return sum;
}

void NuePlanner::change_load(const GrownTree& tree, SwitchIdx destination, bool add) {
  const std::uint64_t hosts = targets_.hosts[destination], drawn = drawn_[destination];
  if (hosts == 0) return;
  for (const SwitchIdx sw : tree.order) flow_[sw] = targets_.hosts[sw];
  for (std::size_t at = tree.order.size(); at-- > 1;) {
    const SwitchIdx sw = tree.order[at];
    const Channel egress = tree.egress[sw];
    const std::uint64_t weight = flow_[sw] * drawn * costs_[egress], paths = flow_[sw] * hosts;
    load_[egress] += add ? weight : 0 - weight;
    links_ += add ? paths : 0 - paths;
    flow_[channels_.to[egress]] += flow_[sw];
  }
}

// Third thoughts of the planner, on one layer: destinations one by one get the tree that is best
// beside all others. Every link costs a path 1 and a price that rises steeply with what the link
// carries, so full ones are left to whoever has no other way.

void NuePlanner::rebalance() {
  const std::uint64_t sum = std::accumulate(load_.begin(), load_.end(), std::uint64_t{0});
  if (sum == 0 || links_ == 0) return;
  const auto count = static_cast<double>(channels_.size());
  unit_load_ = static_cast<double>(sum) / count;
  unit_links_ = static_cast<double>(links_) / count;
  price_.resize(channels_.size());
  for (Channel c = 0; c < channels_.size(); ++c)
    price_[c] = find_price(static_cast<double>(load_[c]) / unit_load_);
  for (const SwitchIdx destination : planned_) {
    if (targets_.hosts[destination] != 0) rebalance(destination);
  }
}

void NuePlanner::rebalance(SwitchIdx destination) {
  Layer& layer = layers_[layer_of_[destination]];
  const auto sum_costs = [&](const GrownTree& tree) {
    double sum = static_cast<double>(links_) / unit_links_;
    for (std::size_t at = 1; at < tree.order.size(); ++at)
      sum += find_cost(static_cast<double>(load_[tree.egress[tree.order[at]]]) / unit_load_);
    return sum;
  };
  const auto set_prices = [&](const GrownTree& tree) {
    for (std::size_t at = 1; at < tree.order.size(); ++at) {
      const Channel egress = tree.egress[tree.order[at]];
      price_[egress] = find_price(static_cast<double>(load_[egress]) / unit_load_);
    }
  };
  read_unordered(destination, old_);
  const double with_old = sum_costs(old_);
  remove(destination, old_);
  const double old_cost = with_old - sum_costs(old_);
  set_prices(old_);

  priced_.grow(layer.turns, destination, price_);
  const GrownTree& tree = priced_.tree();
  if (tree.order.size() == old_.order.size()) {
    const double without = sum_costs(tree);
    change_load(tree, destination, true);
    const double cost = sum_costs(tree) - without;
    change_load(tree, destination, false);
    if (cost < old_cost) {
      accept(destination, layer_of_[destination], tree);
      set_prices(tree);
      return;
    }
  }
  layer.turns.take_back();
  put_back(destination, old_);
  set_prices(old_);
}

// As read(), but of equally near switches any may come first: in less time.
void NuePlanner::read_unordered(SwitchIdx destination, GrownTree& tree) const {
  const std::size_t count = channels_.switches();
  const std::uint8_t* const slots = slots_.data() + row_of_[destination] * count;
  tree.egress.assign(count, kNoChannel);
  tree.depth.assign(count, kUnreached);
  tree.order.assign(1, destination);
  tree.depth[destination] = 0;
  std::vector<SwitchIdx> path;
  for (const SwitchIdx start : tree.depth.indices()) {
    path.clear();
    for (SwitchIdx sw = start; tree.depth[sw] == kUnreached && slots[sw.value()] != kNoSlot;
         sw = channels_.to[tree.egress[sw]]) {
      tree.egress[sw] = channels_.first[sw.value()] + slots[sw.value()];
      path.push_back(sw);
    }
    for (std::size_t at = path.size(); at-- > 0; tree.order.push_back(path[at]))
      tree.depth[path[at]] = tree.depth[channels_.to[tree.egress[path[at]]]] + 1;
  }
}

}  // namespace smd

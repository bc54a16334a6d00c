// Third thoughts of the planner, on one lane: destinations one by one get the tree that is best
// beside all others. Every link costs a path 1 and a price that rises steeply with what the link
// carries, so full ones are left to whoever has no other way.
#include <algorithm>
#include <numeric>

#include "smd/routing/nue/planner.h"

namespace smd {
namespace {

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

void NuePlanner::relieve() {
  give_up_escapes();
  const std::uint64_t sum = std::accumulate(load_.begin(), load_.end(), std::uint64_t{0});
  if (sum == 0 || links_ == 0) return;
  const auto count = static_cast<double>(channels_.size());
  unit_load_ = static_cast<double>(sum) / count;
  unit_links_ = static_cast<double>(links_) / count;
  price_.resize(channels_.size());
  for (Channel c = 0; c < channels_.size(); ++c)
    price_[c] = find_price(static_cast<double>(load_[c]) / unit_load_);
  for (const SwitchIdx destination : planned_) {
    if (targets_.hosts[destination] != 0) relieve(destination);
  }
}

void NuePlanner::relieve(SwitchIdx destination) {
  Lane& lane = lanes_[lane_of_[destination]];
  const auto sum_costs = [&](const GrownTree& tree) {
    double sum = static_cast<double>(links_) / unit_links_;
    for (std::size_t at = 1; at < tree.order.size(); ++at)
      sum += find_cost(static_cast<double>(load_[tree.exit[tree.order[at]]]) / unit_load_);
    return sum;
  };
  const auto set_prices = [&](const GrownTree& tree) {
    for (std::size_t at = 1; at < tree.order.size(); ++at) {
      const Channel exit = tree.exit[tree.order[at]];
      price_[exit] = find_price(static_cast<double>(load_[exit]) / unit_load_);
    }
  };
  read_unordered(destination, old_);
  const double with_old = sum_costs(old_);
  remove(destination, old_);
  const double old_cost = with_old - sum_costs(old_);
  set_prices(old_);

  priced_.grow(lane.turns, destination, price_);
  const GrownTree& tree = priced_.tree();
  if (tree.order.size() == old_.order.size()) {
    const double without = sum_costs(tree);
    change_load(tree, destination, true);
    const double cost = sum_costs(tree) - without;
    change_load(tree, destination, false);
    if (cost < old_cost) {
      accept(destination, lane_of_[destination], tree);
      set_prices(tree);
      return;
    }
  }
  lane.turns.take_back();
  put_back(destination, old_);
  set_prices(old_);
}

// As read(), but of equally near switches any may come first: in less time.
void NuePlanner::read_unordered(SwitchIdx destination, GrownTree& tree) const {
  const std::size_t count = channels_.switches();
  const std::uint8_t* const slots = slots_.data() + row_of_[destination] * count;
  tree.exit.assign(count, kNoChannel);
  tree.depth.assign(count, kUnreached);
  tree.order.assign(1, destination);
  tree.depth[destination] = 0;
  std::vector<SwitchIdx> path;
  for (const SwitchIdx start : tree.depth.indices()) {
    path.clear();
    for (SwitchIdx sw = start; tree.depth[sw] == kUnreached && slots[sw.value()] != kNoSlot;
         sw = channels_.to[tree.exit[sw]]) {
      tree.exit[sw] = channels_.first[sw.value()] + slots[sw.value()];
      path.push_back(sw);
    }
    for (std::size_t at = path.size(); at-- > 0; tree.order.push_back(path[at]))
      tree.depth[path[at]] = tree.depth[channels_.to[tree.exit[path[at]]]] + 1;
  }
}

}  // namespace smd

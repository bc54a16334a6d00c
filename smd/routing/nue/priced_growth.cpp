#include "smd/routing/nue/priced_growth.h"

#include <algorithm>
#include <functional>
#include <limits>

namespace smd {
namespace {

constexpr double kNoCost = std::numeric_limits<double>::infinity();

}  // namespace

PricedGrowth::PricedGrowth(const Channels& channels)
    : channels_(channels),
      cost_(channels.switches(), kNoCost),
      way_(channels.switches(), kNoChannel) {}

void PricedGrowth::grow(TurnSet& turns, SwitchIdx destination, const std::vector<double>& price) {
  price_ = &price;
  tree_.exit.assign(channels_.switches(), kNoChannel);
  tree_.depth.assign(channels_.switches(), kUnreached);
  tree_.order.clear();
  cost_.assign(channels_.switches(), kNoCost);
  way_.assign(channels_.switches(), kNoChannel);
  due_.clear();
  cost_[destination] = 0;
  attach(destination, kNoChannel);
  for (SwitchIdx sw = destination;;) {
    for (Channel c = channels_.first[sw.value()]; c < channels_.first[sw.value() + 1]; ++c)
      offer(turns, channels_.reverse[c]);
    bool attached = false;
    while (!attached && !due_.empty()) {
      const Channel way = due_.front().second;
      std::ranges::pop_heap(due_, std::greater<>{});
      due_.pop_back();
      sw = channels_.from[way];
      if (way_[sw] != way || tree_.depth[sw] != kUnreached) continue;  // there was a cheaper one
      const Channel next = tree_.exit[channels_.to[way]];
      attached = next == kNoChannel || turns.add(way, next);
      if (!attached) look_again(turns, sw);
    }
    if (!attached) return;
    attach(sw, way_[sw]);
  }
}

void PricedGrowth::attach(SwitchIdx sw, Channel exit) {
  tree_.exit[sw] = exit;
  tree_.depth[sw] = exit == kNoChannel ? 0 : tree_.depth[channels_.to[exit]] + 1;
  tree_.order.push_back(sw);
}

void PricedGrowth::offer(const TurnSet& turns, Channel way) {
  const SwitchIdx sw = channels_.from[way];
  if (tree_.depth[sw] != kUnreached) return;
  const SwitchIdx near = channels_.to[way];
  const double cost = cost_[near] + (*price_)[way];
  if (cost >= cost_[sw]) return;
  if (tree_.exit[near] != kNoChannel && turns.is_barred(way, tree_.exit[near])) return;
  cost_[sw] = cost;
  way_[sw] = way;
  due_.emplace_back(cost, way);
  std::ranges::push_heap(due_, std::greater<>{});
}

// Its best way turned out to close a cycle, and is barred now.
void PricedGrowth::look_again(const TurnSet& turns, SwitchIdx sw) {
  cost_[sw] = kNoCost;
  for (Channel c = channels_.first[sw.value()]; c < channels_.first[sw.value() + 1]; ++c) {
    if (tree_.depth[channels_.to[c]] != kUnreached) offer(turns, c);
  }
}

}  // namespace smd

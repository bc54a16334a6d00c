#include "smd/routing/nue/priced_growth.h"

#include <algorithm>
#include <functional>
#include <limits>

namespace smd {
namespace {

constexpr std::uint32_t kNoCost = std::numeric_limits<std::uint32_t>::max();

}  // namespace

PricedGrowth::PricedGrowth(const Channels& channels)
    : channels_(channels),
      cost_(channels.switches(), kNoCost),
      way_(channels.switches(), kNoChannel) {}

void PricedGrowth::grow(TurnSet& turns,
                        SwitchIdx destination,
                        const std::vector<std::uint32_t>& price) {
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
    offer_to_all(turns, sw);
    bool attached = false;
    while (!attached && !due_.empty()) {
      const auto way = static_cast<Channel>(due_.front());
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

void PricedGrowth::offer(SwitchIdx sw, Channel way) {
  const std::uint32_t cost = cost_[channels_.to[way]] + (*price_)[way];
  if (cost >= cost_[sw]) return;
  cost_[sw] = cost;
  way_[sw] = way;
  due_.push_back(std::uint64_t{cost} << 32 | way);
  std::ranges::push_heap(due_, std::greater<>{});
}

void PricedGrowth::offer_to_all(const TurnSet& turns, SwitchIdx near) {
  const Channel first = channels_.first[near.value()];
  const Channel next = tree_.exit[near];
  const std::uint64_t* const barred = next == kNoChannel ? nullptr : turns.barred(next).data();
  for (Channel c = first; c < channels_.first[near.value() + 1]; ++c) {
    const SwitchIdx far = channels_.to[c];
    if (tree_.depth[far] != kUnreached) continue;
    const std::uint32_t slot = c - first;
    if (barred == nullptr || (barred[slot / 64] >> (slot % 64) & 1) == 0)
      offer(far, channels_.reverse[c]);
  }
}

// Its best way turned out to close a cycle, and is barred now.
void PricedGrowth::look_again(const TurnSet& turns, SwitchIdx sw) {
  cost_[sw] = kNoCost;
  for (Channel c = channels_.first[sw.value()]; c < channels_.first[sw.value() + 1]; ++c) {
    const SwitchIdx near = channels_.to[c];
    if (tree_.depth[near] == kUnreached) continue;
    if (tree_.exit[near] == kNoChannel || !turns.is_barred(c, tree_.exit[near])) offer(sw, c);
  }
}

}  // namespace smd

#include "smd/routing/nue/tree_growth.h"

#include <algorithm>
#include <tuple>

namespace smd {

TreeGrowth::TreeGrowth(const Channels& channels)
    : channels_(channels), seen_(channels.switches(), 0) {}

void TreeGrowth::settle(SwitchIdx sw, Channel exit, std::uint32_t depth) {
  settled_.push_back({sw, exit, depth});
}

bool TreeGrowth::grow(TurnSet& turns,
                      SwitchIdx destination,
                      const std::vector<std::uint64_t>& load,
                      const GrowthRules& rules) {
  tree_.exit.assign(channels_.switches(), kNoChannel);
  tree_.depth.assign(channels_.switches(), kUnreached);
  tree_.order.assign(1, destination);
  tree_.depth[destination] = 0;
  std::ranges::stable_sort(settled_, {}, &Settled::depth);
  for (const Settled& settled : settled_) {
    tree_.exit[settled.sw] = settled.exit;
    tree_.depth[settled.sw] = settled.depth;
  }
  auto settled = settled_.begin();
  std::size_t begin = 0;
  for (std::uint32_t depth = 0; begin < tree_.order.size(); ++depth) {
    ++round_;
    next_.clear();
    for (std::size_t at = begin; at < tree_.order.size(); ++at) {
      const std::uint32_t sw = tree_.order[at].value();
      for (Channel c = channels_.first[sw]; c < channels_.first[sw + 1]; ++c) {
        const SwitchIdx far = channels_.to[c];
        if (tree_.depth[far] != kUnreached || seen_[far] == round_) continue;
        seen_[far] = round_;
        next_.push_back(far);
      }
    }
    begin = tree_.order.size();
    for (const SwitchIdx sw : next_) {
      if (attach(turns, sw, depth, load, rules))
        tree_.order.push_back(sw);
      else if (rules.shortest)
        return false;
    }
    for (; settled != settled_.end() && settled->depth == depth + 1; ++settled)
      tree_.order.push_back(settled->sw);
  }
  return true;
}

bool TreeGrowth::attach(TurnSet& turns,
                        SwitchIdx sw,
                        std::uint32_t depth,
                        const std::vector<std::uint64_t>& load,
                        const GrowthRules& rules) {
  Channel best = kNoChannel;
  choices_.clear();
  for (Channel c = channels_.first[sw.value()]; c < channels_.first[sw.value() + 1]; ++c) {
    const SwitchIdx far = channels_.to[c];
    if (tree_.depth[far] != depth) continue;
    const Channel next = tree_.exit[far];
    if (next == kNoChannel || turns.has(c, next) ||
        (rules.even && turns.fits(c, next) && !turns.is_barred(c, next))) {
      if (best == kNoChannel || load[c] < load[best]) best = c;
    } else if (best == kNoChannel && !turns.is_barred(c, next) &&
               (!rules.fitting || turns.fits(c, next))) {
      choices_.push_back(c);
    }
  }
  if (best != kNoChannel && tree_.exit[channels_.to[best]] != kNoChannel)
    turns.add(best, tree_.exit[channels_.to[best]]);
  if (best == kNoChannel) {
    const auto cost = [&](Channel c) {
      return std::tuple{!turns.fits(c, tree_.exit[channels_.to[c]]), load[c], c};
    };
    std::ranges::sort(choices_, {}, cost);
    for (const Channel c : choices_) {
      if (!turns.add(c, tree_.exit[channels_.to[c]])) continue;
      best = c;
      break;
    }
  }
  if (best == kNoChannel) return false;
  tree_.exit[sw] = best;
  tree_.depth[sw] = depth + 1;
  return true;
}

}  // namespace smd

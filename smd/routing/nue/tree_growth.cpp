#include "smd/routing/nue/tree_growth.h"

#include <algorithm>
#include <functional>
#include <limits>
#include <tuple>

namespace smd {
namespace {

constexpr std::uint32_t kNoCost = std::numeric_limits<std::uint32_t>::max();

}  // namespace

EscapeTree::EscapeTree(const Channels& channels, const std::vector<SwitchIdx>& roots)
    : channels_(&channels),
      order_(roots),
      up_(channels.switches(), kNoChannel),
      down_(channels.switches(), kNoChannel) {
  IndexVector<SwitchIdx, char> met(channels.switches(), 0);
  for (const SwitchIdx root : roots) met[root] = 1;
  for (std::size_t at = 0; at < order_.size(); ++at) {
    const SwitchIdx sw = order_[at];
    for (Channel c = channels.first[sw.value()]; c < channels.first[sw.value() + 1]; ++c) {
      const SwitchIdx neighbour = channels.to[c];
      if (met[neighbour]) continue;
      met[neighbour] = 1;
      up_[neighbour] = channels.reverse[c];
      order_.push_back(neighbour);
    }
  }
}

std::vector<Channel> EscapeTree::list_channels() const {
  IndexVector<SwitchIdx, std::uint32_t> place(order_.size(), 0);
  for (std::uint32_t at = 0; at < order_.size(); ++at) place[order_[at]] = at;
  std::vector<Channel> listed;
  listed.reserve(channels_->size());
  const auto list = [&](SwitchIdx sw, bool up) {
    for (Channel c = channels_->first[sw.value()]; c < channels_->first[sw.value() + 1]; ++c) {
      if (place[channels_->to[c]] < place[sw]) listed.push_back(up ? c : channels_->reverse[c]);
    }
  };
  for (std::size_t at = order_.size(); at-- > 0;) list(order_[at], true);
  for (const SwitchIdx sw : order_) list(sw, false);
  return listed;
}

std::vector<std::pair<Channel, Channel>> EscapeTree::list_turns() const {
  std::vector<std::pair<Channel, Channel>> turns;
  IndexVector<SwitchIdx, std::vector<Channel>> leaving(up_.size());  // out of a switch, in the tree
  for (const SwitchIdx sw : order_) {
    if (up_[sw] == kNoChannel) continue;
    leaving[sw].push_back(up_[sw]);
    leaving[channels_->to[up_[sw]]].push_back(channels_->reverse[up_[sw]]);
  }
  for (const std::vector<Channel>& at_switch : leaving) {
    for (const Channel back : at_switch) {
      for (const Channel out : at_switch) {
        if (back != out) turns.emplace_back(channels_->reverse[back], out);
      }
    }
  }
  return turns;
}

void EscapeTree::aim_at(SwitchIdx destination) {
  for (const SwitchIdx sw : above_) down_[sw] = kNoChannel;
  above_.clear();
  for (SwitchIdx sw = destination; up_[sw] != kNoChannel; sw = above_.back()) {
    const SwitchIdx parent = channels_->to[up_[sw]];
    down_[parent] = channels_->reverse[up_[sw]];
    above_.push_back(parent);
  }
}

TreeGrowth::TreeGrowth(const Channels& channels)
    : channels_(channels), seen_(channels.switches(), 0) {}

void TreeGrowth::settle(SwitchIdx sw, Channel egress, std::uint32_t depth) {
  settled_.push_back({sw, egress, depth});
}

bool TreeGrowth::grow(TurnSet& turns,
                      SwitchIdx destination,
                      const std::vector<std::uint64_t>& load,
                      const GrowthRules& rules) {
  tree_.egress.assign(channels_.switches(), kNoChannel);
  tree_.depth.assign(channels_.switches(), kUnreached);
  tree_.order.assign(1, destination);
  tree_.depth[destination] = 0;
  std::ranges::stable_sort(settled_, {}, &Settled::depth);
  for (const Settled& settled : settled_) {
    tree_.egress[settled.sw] = settled.egress;
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
        const SwitchIdx neighbour = channels_.to[c];
        if (tree_.depth[neighbour] != kUnreached || seen_[neighbour] == round_) continue;
        seen_[neighbour] = round_;
        next_.push_back(neighbour);
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
    const SwitchIdx neighbour = channels_.to[c];
    if (tree_.depth[neighbour] != depth) continue;
    const Channel next = tree_.egress[neighbour];
    if (next == kNoChannel || turns.has(c, next) ||
        (rules.even && turns.fits(c, next) && !turns.is_barred(c, next))) {
      if (best == kNoChannel || load[c] < load[best]) best = c;
    } else if (best == kNoChannel && !turns.is_barred(c, next) &&
               (!rules.fitting || turns.fits(c, next))) {
      choices_.push_back(c);
    }
  }
  if (best != kNoChannel && tree_.egress[channels_.to[best]] != kNoChannel)
    turns.add(best, tree_.egress[channels_.to[best]]);
  if (best == kNoChannel) {
    const auto cost = [&](Channel c) {
      return std::tuple{!turns.fits(c, tree_.egress[channels_.to[c]]), load[c], c};
    };
    std::ranges::sort(choices_, {}, cost);
    for (const Channel c : choices_) {
      if (!turns.add(c, tree_.egress[channels_.to[c]])) continue;
      best = c;
      break;
    }
  }
  if (best == kNoChannel) return false;
  tree_.egress[sw] = best;
  tree_.depth[sw] = depth + 1;
  return true;
}

PricedGrowth::PricedGrowth(const Channels& channels)
    : channels_(channels),
      cost_(channels.switches(), kNoCost),
      offered_(channels.switches(), kNoChannel) {}

void PricedGrowth::grow(TurnSet& turns,
                        SwitchIdx destination,
                        const std::vector<std::uint32_t>& price) {
  price_ = &price;
  tree_.egress.assign(channels_.switches(), kNoChannel);
  tree_.depth.assign(channels_.switches(), kUnreached);
  tree_.order.clear();
  cost_.assign(channels_.switches(), kNoCost);
  offered_.assign(channels_.switches(), kNoChannel);
  due_.clear();
  cost_[destination] = 0;
  attach(destination, kNoChannel);
  for (SwitchIdx sw = destination;;) {
    offer_to_all(turns, sw);
    bool attached = false;
    while (!attached && !due_.empty()) {
      const auto channel = static_cast<Channel>(due_.front());
      std::ranges::pop_heap(due_, std::greater<>{});
      due_.pop_back();
      sw = channels_.from[channel];
      if (offered_[sw] != channel || tree_.depth[sw] != kUnreached)
        continue;  // there was a cheaper one
      const Channel next = tree_.egress[channels_.to[channel]];
      attached = next == kNoChannel || turns.add(channel, next);
      if (!attached) look_again(turns, sw);
    }
    if (!attached) return;
    attach(sw, offered_[sw]);
  }
}

void PricedGrowth::attach(SwitchIdx sw, Channel egress) {
  tree_.egress[sw] = egress;
  tree_.depth[sw] = egress == kNoChannel ? 0 : tree_.depth[channels_.to[egress]] + 1;
  tree_.order.push_back(sw);
}

void PricedGrowth::offer(SwitchIdx sw, Channel channel) {
  const std::uint32_t cost = cost_[channels_.to[channel]] + (*price_)[channel];
  if (cost >= cost_[sw]) return;
  cost_[sw] = cost;
  offered_[sw] = channel;
  due_.push_back(std::uint64_t{cost} << 32 | channel);
  std::ranges::push_heap(due_, std::greater<>{});
}

void PricedGrowth::offer_to_all(const TurnSet& turns, SwitchIdx near) {
  const Channel first = channels_.first[near.value()];
  const Channel next = tree_.egress[near];
  const std::uint64_t* const barred = next == kNoChannel ? nullptr : turns.barred(next).data();
  for (Channel c = first; c < channels_.first[near.value() + 1]; ++c) {
    const SwitchIdx neighbour = channels_.to[c];
    if (tree_.depth[neighbour] != kUnreached) continue;
    const std::uint32_t slot = c - first;
    if (barred == nullptr || (barred[slot / 64] >> (slot % 64) & 1) == 0)
      offer(neighbour, channels_.reverse[c]);
  }
}

// Its best channel turned out to close a cycle, and is barred now.
void PricedGrowth::look_again(const TurnSet& turns, SwitchIdx sw) {
  cost_[sw] = kNoCost;
  for (Channel c = channels_.first[sw.value()]; c < channels_.first[sw.value() + 1]; ++c) {
    const SwitchIdx near = channels_.to[c];
    if (tree_.depth[near] == kUnreached) continue;
    if (tree_.egress[near] == kNoChannel || !turns.is_barred(c, tree_.egress[near])) offer(sw, c);
  }
}

TreeTurns::TreeTurns(const Channels& channels) : channels_(&channels) {
  std::size_t size = 0;
  first_.reserve(channels.size());
  for (Channel out = 0; out < channels.size(); ++out) {
    const std::uint32_t sw = channels.from[out].value();
    first_.push_back(size);
    size += channels.first[sw + 1] - channels.first[sw];
  }
  counts_.assign(size, 0);
}

void TreeTurns::add(const GrownTree& tree) {
  for (std::size_t at_order = 1; at_order < tree.order.size(); ++at_order) {
    const Channel in = tree.egress[tree.order[at_order]];
    const Channel out = tree.egress[channels_->to[in]];
    if (out != kNoChannel) ++counts_[at(in, out)];
  }
}

void TreeTurns::remove(const GrownTree& tree, TurnSet& turns) {
  for (std::size_t at_order = 1; at_order < tree.order.size(); ++at_order) {
    const Channel in = tree.egress[tree.order[at_order]];
    const Channel out = tree.egress[channels_->to[in]];
    if (out != kNoChannel && --counts_[at(in, out)] == 0) turns.remove(in, out);
  }
}

}  // namespace smd

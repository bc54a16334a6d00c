#include "smd/routing/nue/tree_growth.h"

#include <algorithm>
#include <bit>
#include <functional>
#include <limits>
#include <tuple>

#include "smd/routing/graph/disjoint_sets.h"

namespace smd {
namespace {

constexpr std::uint32_t kNoCost = std::numeric_limits<std::uint32_t>::max();

// Steps that a search of a free path begins with for so many channels, and that a search for a
// cycle counts for.
constexpr std::size_t kChannelsCleared = 16;
constexpr std::size_t kCycleSearch = 16;

}  // namespace

EscapeTree::EscapeTree(const Channels& channels, const std::vector<SwitchIdx>& roots)
    : channels_(&channels),
      order_(roots),
      up_(channels.switches(), kNoChannel),
      down_(channels.switches(), kNoChannel) {
  grow(nullptr);
}

EscapeTree::EscapeTree(const Channels& channels,
                       const std::vector<SwitchIdx>& roots,
                       std::span<const Channel> links)
    : channels_(&channels),
      order_(roots),
      up_(channels.switches(), kNoChannel),
      down_(channels.switches(), kNoChannel) {
  std::vector<char> in_tree(channels.size(), 0);
  for (const Channel link : links) in_tree[link] = in_tree[channels.reverse[link]] = 1;
  grow(&in_tree);
}

void EscapeTree::grow(const std::vector<char>* links) {
  IndexVector<SwitchIdx, char> met(channels_->switches(), 0);
  for (const SwitchIdx root : order_) met[root] = 1;
  for (std::size_t at = 0; at < order_.size(); ++at) {
    const SwitchIdx sw = order_[at];
    for (Channel c = channels_->first[sw.value()]; c < channels_->first[sw.value() + 1]; ++c) {
      const SwitchIdx neighbour = channels_->to[c];
      if (met[neighbour] || (links != nullptr && !(*links)[c])) continue;
      met[neighbour] = 1;
      up_[neighbour] = channels_->reverse[c];
      order_.push_back(neighbour);
    }
  }
}

std::vector<Channel> EscapeTree::list_links() const {
  std::vector<Channel> links;
  for (const SwitchIdx sw : order_) {
    if (up_[sw] != kNoChannel) links.push_back(up_[sw]);
  }
  return links;
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

namespace {

/// Parts of islands that grow together, link by link.
class EscapeLinks {
 public:
  EscapeLinks(const Channels& channels, TurnSet& turns)
      : channels_(channels),
        turns_(turns),
        parts_(channels.switches()),
        leaving_(channels.switches()) {}

  [[nodiscard]] bool joins_parts(Channel link) {
    return parts_.find(channels_.from[link]) != parts_.find(channels_.to[link]);
  }

  /// Whether all turns between the link and those that are there agree with the order of the set.
  [[nodiscard]] bool fits(Channel link) {
    return for_each_turn(link, [&](Channel in, Channel out) {
      return turns_.has(in, out) || (turns_.fits(in, out) && !turns_.is_barred(in, out));
    });
  }

  void add(Channel link) {
    const std::size_t before = let_in_.size();
    const bool free = for_each_turn(link, [&](Channel in, Channel out) {
      if (!turns_.has(in, out)) let_in_.emplace_back(in, out);
      return turns_.add(in, out);
    });
    if (!free) {
      turns_.take_back();
      let_in_.resize(before);
      return;
    }
    turns_.keep();
    parts_.join(channels_.from[link], channels_.to[link]);
    leaving_[channels_.from[link]].push_back(link);
    leaving_[channels_.to[link]].push_back(channels_.reverse[link]);
    links_.push_back(link);
  }

  [[nodiscard]] const std::vector<Channel>& links() const { return links_; }

  void give_up() {
    for (const auto& [in, out] : let_in_) turns_.remove(in, out);
  }

 private:
  template <class Visit>
  bool for_each_turn(Channel link, Visit&& visit) {
    for (const Channel in : {link, channels_.reverse[link]}) {
      for (const Channel out : leaving_[channels_.to[in]]) {
        if (!visit(in, out) || !visit(channels_.reverse[out], channels_.reverse[in])) return false;
      }
    }
    return true;
  }

  const Channels& channels_;
  TurnSet& turns_;
  DisjointSets parts_;
  IndexVector<SwitchIdx, std::vector<Channel>> leaving_;  // out of a switch, in the tree
  std::vector<std::pair<Channel, Channel>> let_in_;
  std::vector<Channel> links_;
};

}  // namespace

std::optional<std::vector<Channel>> find_escape_links(const Channels& channels,
                                                      TurnSet& turns,
                                                      std::span<const Channel> kept,
                                                      Channel without) {
  EscapeLinks tree{channels, turns};
  const auto is_out = [&](Channel link) {
    return link == without || channels.reverse[link] == without;
  };
  for (const Channel link : kept) {
    if (!is_out(link)) tree.add(link);
  }
  for (const bool any : {false, true}) {
    for (Channel c = 0; c < channels.size(); ++c) {
      if (channels.from[c] < channels.to[c] && tree.joins_parts(c) && !is_out(c) &&
          (any || tree.fits(c)))
        tree.add(c);
    }
  }
  for (Channel c = 0; c < channels.size(); ++c) {
    if (!tree.joins_parts(c)) continue;
    tree.give_up();
    return std::nullopt;
  }
  return tree.links();
}

namespace {

std::vector<Channel> find_free_path(const Channels& channels,
                                    TurnSet& turns,
                                    SwitchIdx start,
                                    SwitchIdx destination,
                                    const IndexVector<SwitchIdx, Channel>& taken,
                                    bool fitting,
                                    std::size_t& steps) {
  if (steps == 0) return {};
  const auto spend = [&](std::size_t some) { steps -= std::min(steps, some); };
  spend(1 + channels.size() / kChannelsCleared);
  std::vector<Channel> onward(channels.size(), kNoChannel);  // itself: the last one
  std::vector<Channel> reached;                              // near to far
  const auto reach = [&](Channel c, Channel next) {
    const SwitchIdx sw = channels.from[c];
    if (onward[c] != kNoChannel || sw == destination || (taken[sw] != kNoChannel && taken[sw] != c))
      return false;
    onward[c] = next;
    reached.push_back(c);
    return sw == start;
  };
  const auto is_free = [&](Channel in, Channel out) {
    if (steps == 0) return false;
    --steps;
    if (turns.has(in, out)) return true;
    if (fitting && !turns.fits(in, out)) return false;
    spend(kCycleSearch);
    if (!turns.add(in, out)) return false;
    turns.remove(in, out);
    return true;
  };
  const auto walk = [&](Channel c) {
    std::vector<Channel> path{c};
    while (onward[path.back()] != path.back()) path.push_back(onward[path.back()]);
    turns.take_back();
    return path;
  };
  const auto visit_into = [&](SwitchIdx sw, auto&& visit) {
    for (Channel c = channels.first[sw.value()]; c < channels.first[sw.value() + 1]; ++c) {
      if (visit(channels.reverse[c])) return channels.reverse[c];
    }
    return kNoChannel;
  };
  Channel found = visit_into(destination, [&](Channel in) { return reach(in, in); });
  for (std::size_t at = 0; at < reached.size() && found == kNoChannel; ++at) {
    const Channel out = reached[at];
    found = visit_into(channels.from[out], [&](Channel in) {
      return onward[in] == kNoChannel && is_free(in, out) && reach(in, out);
    });
  }
  if (found != kNoChannel) return walk(found);
  turns.take_back();
  return {};
}

}  // namespace

std::vector<Channel> find_free_path(const Channels& channels,
                                    TurnSet& turns,
                                    SwitchIdx start,
                                    SwitchIdx destination,
                                    const IndexVector<SwitchIdx, Channel>& taken,
                                    std::size_t& steps) {
  auto path = find_free_path(channels, turns, start, destination, taken, true, steps);
  if (path.empty()) path = find_free_path(channels, turns, start, destination, taken, false, steps);
  return path;
}

TreeGrowth::TreeGrowth(const Channels& channels)
    : channels_(channels), seen_(channels.switches(), 0), due_at_(channels.switches(), 0) {}

void TreeGrowth::settle(SwitchIdx sw, Channel egress, std::uint32_t depth) {
  settled_.push_back({sw, egress, depth});
}

bool TreeGrowth::grow(TurnSet& turns,
                      SwitchIdx destination,
                      const std::vector<std::uint64_t>& load,
                      const GrowthRules& rules) {
  in_tree_.clear();
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

// A tree that few were missing in is forgotten by these and their neighbours.
void TreeGrowth::forget_tree() {
  if (in_tree_.empty()) {
    tree_.egress.assign(channels_.switches(), kNoChannel);
    tree_.depth.assign(channels_.switches(), kUnreached);
  }
  for (const SwitchIdx sw : in_tree_) {
    tree_.egress[sw] = kNoChannel;
    tree_.depth[sw] = kUnreached;
  }
  in_tree_.clear();
  tree_.order.clear();
}

// Level by level, as grow() does it, but of a level those that are missing alone.
bool TreeGrowth::complete(TurnSet& turns,
                          SwitchIdx destination,
                          const std::vector<std::uint64_t>& load,
                          std::span<const SwitchIdx> missing) {
  forget_tree();
  tree_.depth[destination] = 0;
  in_tree_.assign(1, destination);
  for (const Settled& settled : settled_) {
    tree_.egress[settled.sw] = settled.egress;
    tree_.depth[settled.sw] = settled.depth;
    in_tree_.push_back(settled.sw);
  }
  in_tree_.insert(in_tree_.end(), missing.begin(), missing.end());
  ++round_;
  for (const SwitchIdx sw : missing) seen_[sw] = round_;
  for (const SwitchIdx sw : missing) due_at_[sw] = kUnreached;
  due_.clear();
  const auto queue = [&](std::uint32_t depth, SwitchIdx sw) {
    if (due_at_[sw] <= depth) return;  // looks for the next depth itself when it comes to that
    due_at_[sw] = depth;
    due_.emplace_back(depth, sw);
    std::ranges::push_heap(due_, std::greater<>{});
  };
  const auto queue_beside = [&](SwitchIdx sw, std::uint32_t least) {
    std::uint32_t nearest = kUnreached;
    for (Channel c = channels_.first[sw.value()]; c < channels_.first[sw.value() + 1]; ++c) {
      const std::uint32_t depth = tree_.depth[channels_.to[c]];
      if (depth >= least) nearest = std::min(nearest, depth);
    }
    if (nearest != kUnreached) queue(nearest, sw);
  };
  for (const SwitchIdx sw : missing) queue_beside(sw, 0);
  while (!due_.empty()) {
    const auto [depth, sw] = due_.front();
    while (!due_.empty() && due_.front() == std::pair{depth, sw}) {
      std::ranges::pop_heap(due_, std::greater<>{});
      due_.pop_back();
    }
    if (tree_.depth[sw] != kUnreached) continue;
    if (!attach(turns, sw, depth, load, {})) {
      due_at_[sw] = kUnreached;
      queue_beside(sw, depth + 1);
      continue;
    }
    tree_.order.push_back(sw);
    for (Channel c = channels_.first[sw.value()]; c < channels_.first[sw.value() + 1]; ++c) {
      const SwitchIdx neighbour = channels_.to[c];
      if (seen_[neighbour] == round_ && tree_.depth[neighbour] == kUnreached)
        queue(depth + 1, neighbour);
    }
  }
  return tree_.order.size() == missing.size();
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

LayerNextHops::LayerNextHops(const Channels& channels) : channels_(channels) {}

void LayerNextHops::list(const GrownTree& tree, NextHops& hops) {
  hops.clear();
  for (std::size_t at = tree.order.size(); at-- > 1;) {
    hops.order.push_back(tree.order[at]);
    hops.edges.push_back(tree.egress[tree.order[at]]);
    hops.close();
  }
}

void LayerNextHops::widen(const GrownTree& tree,
                          TurnSet& turns,
                          NextHops& hops,
                          const std::vector<std::uint64_t>* load) {
  const std::size_t words = channels_.words;
  out_.assign(channels_.switches() * words, 0);
  back_.assign(channels_.switches() * words, 0);
  const auto mark = [&](SlotMasks& masks, Channel channel) {
    const std::uint32_t slot = channels_.slot(channel);
    masks[channels_.from[channel].value() * words + slot / 64] |= std::uint64_t{1} << (slot % 64);
  };
  for (std::size_t at = 1; at < tree.order.size(); ++at) {
    mark(out_, tree.egress[tree.order[at]]);
    mark(back_, channels_.reverse[tree.egress[tree.order[at]]]);
  }
  fullest_.assign(channels_.switches(), 0);
  const auto find_fullest = [&](Channel channel) {
    return load == nullptr ? 0 : std::max((*load)[channel], fullest_[channels_.to[channel]]);
  };
  // Nearest first: the next hops of a switch are complete before anything farther may lead to it.
  for (std::size_t at = 1; at < tree.order.size(); ++at) {
    const SwitchIdx sw = tree.order[at];
    const std::uint32_t nearer = tree.depth[sw] - 1;
    fullest_[sw] = find_fullest(tree.egress[sw]);
    for (Channel c = channels_.first[sw.value()]; c < channels_.first[sw.value() + 1]; ++c) {
      if (tree.depth[channels_.to[c]] != nearer || c == tree.egress[sw]) continue;
      if (find_fullest(c) > fullest_[sw]) continue;
      if (may_take(turns, c)) mark(out_, c);
    }
  }
  write(tree, hops);
}

bool LayerNextHops::may_take(TurnSet& turns, Channel channel) {
  const std::size_t words = channels_.words;
  const SwitchIdx near = channels_.to[channel];
  const std::uint64_t* const on = out_.data() + near.value() * words;
  const std::uint64_t* const coming = back_.data() + channels_.from[channel].value() * words;
  const auto after = turns.after(channel);
  const auto before = turns.before(channel);
  const auto barred = turns.barred(channel);
  bool known = true;
  for (std::size_t w = 0; w < words; ++w) {
    if ((barred[w] & coming[w]) != 0) return false;
    known = known && (on[w] & ~after[w]) == 0 && (coming[w] & ~before[w]) == 0;
  }
  if (known) return true;
  const auto add_all = [&](std::uint64_t bits, Channel first, bool onward) {
    for (; bits != 0; bits &= bits - 1) {
      const Channel other = first + static_cast<Channel>(std::countr_zero(bits));
      if (!(onward ? turns.add(channel, other) : turns.add(channels_.reverse[other], channel)))
        return false;
    }
    return true;
  };
  for (std::uint32_t w = 0; w < words; ++w) {
    if (!add_all(on[w] & ~after[w], channels_.first[near.value()] + w * 64, true) ||
        !add_all(coming[w] & ~before[w],
                 channels_.first[channels_.from[channel].value()] + w * 64,
                 false))
      return false;
  }
  return true;
}

void LayerNextHops::write(const GrownTree& tree, NextHops& hops) const {
  hops.clear();
  for (std::size_t at = tree.order.size(); at-- > 1;) {
    const std::uint32_t sw = tree.order[at].value();
    hops.order.push_back(tree.order[at]);
    for (std::uint32_t w = 0; w < channels_.words; ++w) {
      for (std::uint64_t bits = out_[sw * channels_.words + w]; bits != 0; bits &= bits - 1)
        hops.edges.push_back(channels_.first[sw] + w * 64 +
                             static_cast<Channel>(std::countr_zero(bits)));
    }
    hops.close();
  }
}

}  // namespace smd

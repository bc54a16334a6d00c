#include "smd/routing/nue/next_hops.h"

#include <algorithm>
#include <bit>

namespace smd {

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

#include "smd/routing/nue/turn_counts.h"

namespace smd {

TurnCounts::TurnCounts(const Channels& channels) : channels_(&channels) {
  std::size_t size = 0;
  first_.reserve(channels.size());
  for (Channel out = 0; out < channels.size(); ++out) {
    const std::uint32_t sw = channels.from[out].value();
    first_.push_back(size);
    size += channels.first[sw + 1] - channels.first[sw];
  }
  counts_.assign(size, 0);
}

void TurnCounts::add(const GrownTree& tree) {
  for (std::size_t at_order = 1; at_order < tree.order.size(); ++at_order) {
    const Channel in = tree.exit[tree.order[at_order]];
    const Channel out = tree.exit[channels_->to[in]];
    if (out != kNoChannel) ++counts_[at(in, out)];
  }
}

void TurnCounts::remove(const GrownTree& tree, TurnSet& turns) {
  for (std::size_t at_order = 1; at_order < tree.order.size(); ++at_order) {
    const Channel in = tree.exit[tree.order[at_order]];
    const Channel out = tree.exit[channels_->to[in]];
    if (out != kNoChannel && --counts_[at(in, out)] == 0) turns.remove(in, out);
  }
}

}  // namespace smd

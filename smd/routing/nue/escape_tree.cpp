#include "smd/routing/nue/escape_tree.h"

#include <algorithm>

namespace smd {

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
      const SwitchIdx far = channels.to[c];
      if (met[far]) continue;
      met[far] = 1;
      up_[far] = channels.reverse[c];
      order_.push_back(far);
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
  IndexVector<SwitchIdx, std::vector<Channel>> ways(up_.size());  // out of a switch, in the tree
  for (const SwitchIdx sw : order_) {
    if (up_[sw] == kNoChannel) continue;
    ways[sw].push_back(up_[sw]);
    ways[channels_->to[up_[sw]]].push_back(channels_->reverse[up_[sw]]);
  }
  for (const std::vector<Channel>& at_switch : ways) {
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

}  // namespace smd

#include "smd/plan/turn_graph.h"

#include <algorithm>

namespace smd {

TurnGraph::TurnGraph(const Fabric& fabric)
    : fabric_(&fabric),
      words_(fabric.port_count(), 0),
      first_word_(fabric.port_count(), 0),
      first_port_(fabric.port_count(), 0),
      position_(fabric.port_count(), 0),
      seen_(fabric.port_count(), 0) {
  std::uint32_t at = 0;
  for (const NodeIdx node : fabric.switch_node) {
    for (const PortIdx port : fabric.external_ports(node)) {
      const PortIdx far = fabric.peer[port];
      if (far == kNone<PortIdx> || !fabric.is_switch(fabric.node_of[far])) continue;
      first_word_[port] = at;
      first_port_[port] = fabric.first_port[node];
      words_[port] = fabric.num_ports(node) / 64 + 1;
      at += words_[port];
    }
  }
  turns_.assign(at, 0);
  struck_.assign(at, 0);
}

void TurnGraph::strike(PortIdx in, PortIdx out) {
  struck_[word(in, out)] |= bit(in, out);
  remove(in, out);
}

void TurnGraph::strike_bounces() {
  for (const PortIdx port : words_.indices()) {
    if (is_channel(port)) strike(port, port);
  }
}

bool TurnGraph::sort() {
  IndexVector<PortIdx, std::uint32_t> waits(words_.size(), 0);
  for_each_turn([&](PortIdx, PortIdx out) { ++waits[out]; });
  std::vector<PortIdx> free;
  std::size_t channels = 0;
  for (const PortIdx port : words_.indices()) {
    if (!is_channel(port)) continue;
    ++channels;
    if (waits[port] == 0) free.push_back(port);
  }
  for (std::size_t at = 0; at < free.size(); ++at) {
    position_[free[at]] = static_cast<std::uint32_t>(at);
    for_each_exit(fabric_->peer[free[at]], [&](PortIdx out) {
      if (--waits[out] == 0) free.push_back(out);
    });
  }
  return free.size() == channels;
}

bool TurnGraph::sort_by(const ChannelOrder& order) {
  bool rising = true;
  for_each_turn(
      [&](PortIdx in, PortIdx out) { rising = rising && order[fabric_->peer[in]] < order[out]; });
  if (!rising) return false;
  // insert() needs positions that are all different.
  std::vector<PortIdx> channels;
  for (const PortIdx port : words_.indices()) {
    if (is_channel(port)) channels.push_back(port);
  }
  std::ranges::stable_sort(channels, {}, [&](PortIdx port) { return order[port]; });
  for (std::size_t at = 0; at < channels.size(); ++at)
    position_[channels[at]] = static_cast<std::uint32_t>(at);
  return true;
}

// Channels that follow `from` and stand no higher than `goal`; false when one of them is `goal`.
bool TurnGraph::reach_forward(PortIdx from, PortIdx goal) {
  const std::uint32_t ceiling = position_[goal];
  bool free = true;
  stack_.assign(1, from);
  seen_[from] = 1;
  while (!stack_.empty() && free) {
    const PortIdx channel = stack_.back();
    stack_.pop_back();
    after_.push_back(channel);
    for_each_exit(fabric_->peer[channel], [&](PortIdx out) {
      if (out == goal) free = false;
      if (seen_[out] || position_[out] > ceiling) return;
      seen_[out] = 1;
      stack_.push_back(out);
    });
  }
  for (const PortIdx channel : stack_) seen_[channel] = 0;
  for (const PortIdx channel : after_) seen_[channel] = 0;
  return free;
}

void TurnGraph::reach_back(PortIdx from, std::uint32_t floor) {
  stack_.assign(1, from);
  seen_[from] = 1;
  while (!stack_.empty()) {
    const PortIdx channel = stack_.back();
    stack_.pop_back();
    before_.push_back(channel);
    for_each_entry(channel, [&](PortIdx entry) {
      if (seen_[entry] || position_[entry] < floor) return;
      seen_[entry] = 1;
      stack_.push_back(entry);
    });
  }
  for (const PortIdx channel : before_) seen_[channel] = 0;
}

// Gives the positions that `before_` and `after_` hold to all of `before_`, then all of `after_`.
void TurnGraph::reorder() {
  const auto by_position = [&](PortIdx port) { return position_[port]; };
  std::ranges::sort(before_, {}, by_position);
  std::ranges::sort(after_, {}, by_position);
  std::vector<std::uint32_t> places;
  for (const PortIdx port : before_) places.push_back(position_[port]);
  for (const PortIdx port : after_) places.push_back(position_[port]);
  std::ranges::sort(places);
  std::size_t at = 0;
  for (const PortIdx port : before_) position_[port] = places[at++];
  for (const PortIdx port : after_) position_[port] = places[at++];
}

bool TurnGraph::insert(PortIdx in, PortIdx out) {
  if (has(in, out) || (struck_[word(in, out)] & bit(in, out))) return true;
  const PortIdx from = fabric_->peer[in];
  if (from == out) return false;
  if (position_[from] > position_[out]) {
    after_.clear();
    before_.clear();
    if (!reach_forward(out, from)) return false;
    reach_back(from, position_[out]);
    reorder();
  }
  add(in, out);
  return true;
}

}  // namespace smd

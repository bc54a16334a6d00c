#include "smd/plan/turn_graph.h"

#include <algorithm>

namespace smd {

TurnGraph::TurnGraph(const Fabric& fabric)
    : fabric_(&fabric),
      words_(fabric.port_count(), 0),
      first_word_(fabric.port_count(), 0),
      first_port_(fabric.port_count(), 0),
      position_(fabric.port_count(), 0),
      mender_(IndexVector<PortIdx, char>(fabric.port_count(), 0)) {
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

bool TurnGraph::insert(PortIdx in, PortIdx out) {
  if (has(in, out) || is_struck(in, out)) return true;
  const auto after = [&](PortIdx channel, auto&& visit) {
    for_each_exit(fabric_->peer[channel], visit);
  };
  const auto before = [&](PortIdx channel, auto&& visit) { for_each_entry(channel, visit); };
  if (!mender_.mend(position_, fabric_->peer[in], out, after, before)) return false;
  add(in, out);
  return true;
}

}  // namespace smd

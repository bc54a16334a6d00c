#include "smd/routing/channel_graph.h"

#include <algorithm>
#include <bit>
#include <utility>

namespace smd {
namespace {

constexpr std::size_t kCycleStarts = 64;

bool enters_switch(const Fabric& fabric, PortIdx out) {
  const PortIdx far = fabric.peer[out];
  return far != kNone<PortIdx> && fabric.is_switch(fabric.node_of[far]);
}

}  // namespace

ChannelGraph::ChannelGraph(const Fabric& fabric, unsigned vls) : fabric_(fabric), vls_(vls) {
  first_word_.reserve(fabric.port_count());
  words_.reserve(fabric.port_count());
  std::uint32_t at = 0;
  for (const PortIdx port : fabric.peer.indices()) {
    const NodeIdx node = fabric.node_of[port];
    const bool row = fabric.is_switch(node) && enters_switch(fabric, port);
    const std::uint32_t words = row ? ((fabric.num_ports(node) + 1) * vls + 63) / 64 : 0;
    first_word_.push_back(at);
    words_.push_back(words);
    at += words * vls;
  }
  rows_.assign(at, 0);
}

void ChannelGraph::find_successors(Channel channel, std::vector<Channel>& found) const {
  found.clear();
  const PortIdx in = fabric_.peer[PortIdx{channel / vls_}];
  const std::uint32_t first_port = fabric_.first_port[fabric_.node_of[in]];
  const std::uint64_t* const row =
      rows_.data() + first_word_[in.value()] + channel % vls_ * words_[in.value()];
  for (std::uint32_t word = 0; word < words_[in.value()]; ++word) {
    for (std::uint64_t bits = row[word]; bits != 0; bits &= bits - 1) {
      const auto bit = word * 64 + static_cast<std::uint32_t>(std::countr_zero(bits));
      const PortIdx out{first_port + bit / vls_};
      // Port 0 and hosts take packets out of the network: nobody waits beyond them.
      if (enters_switch(fabric_, out)) found.push_back(out.value() * vls_ + bit % vls_);
    }
  }
}

// What is left after taking away, again and again, channels that nothing waits for: empty exactly
// when there is no cycle.
std::vector<char> ChannelGraph::find_core() const {
  const std::size_t channels = fabric_.port_count() * vls_;
  std::vector<char> core(channels, 0);
  std::vector<std::uint32_t> waiting(channels, 0);  // how many channels wait for one
  std::vector<Channel> successors;
  for (const PortIdx port : fabric_.peer.indices()) {
    if (!fabric_.is_switch(fabric_.node_of[port]) || !enters_switch(fabric_, port)) continue;
    for (unsigned vl = 0; vl < vls_; ++vl) {
      const Channel channel = port.value() * vls_ + vl;
      core[channel] = 1;
      find_successors(channel, successors);
      for (const Channel next : successors) ++waiting[next];
    }
  }
  std::vector<Channel> free;
  for (Channel channel = 0; channel < channels; ++channel) {
    if (core[channel] && waiting[channel] == 0) free.push_back(channel);
  }
  while (!free.empty()) {
    const Channel channel = free.back();
    free.pop_back();
    core[channel] = 0;
    find_successors(channel, successors);
    for (const Channel next : successors) {
      if (--waiting[next] == 0) free.push_back(next);
    }
  }
  return core;
}

std::vector<ChannelGraph::Channel> ChannelGraph::find_cycle_through(
    Channel start, const std::vector<char>& core, std::size_t shorter_than) const {
  constexpr Channel kUnseen = ~Channel{0};
  std::vector<Channel> from(core.size(), kUnseen);
  std::vector<std::pair<Channel, std::size_t>> queue{{start, 1}};
  std::vector<Channel> successors;
  for (std::size_t at = 0; at < queue.size(); ++at) {
    const auto [channel, length] = queue[at];
    if (length >= shorter_than) return {};
    find_successors(channel, successors);
    for (const Channel next : successors) {
      if (next == start) {
        std::vector<Channel> cycle;
        for (Channel back = channel; back != start; back = from[back]) cycle.push_back(back);
        cycle.push_back(start);
        std::reverse(cycle.begin(), cycle.end());
        return cycle;
      }
      if (!core[next] || from[next] != kUnseen) continue;
      from[next] = channel;
      queue.emplace_back(next, length + 1);
    }
  }
  return {};
}

std::vector<ChannelStep> ChannelGraph::find_cycle() const {
  const std::vector<char> core = find_core();
  std::vector<Channel> best;
  std::size_t starts = 0;
  for (Channel channel = 0; channel < core.size(); ++channel) {
    if (!core[channel]) continue;
    // A channel of the core may only lead to a cycle; without a cycle yet, keep looking.
    if (++starts > kCycleStarts && !best.empty()) break;
    std::vector<Channel> cycle =
        find_cycle_through(channel, core, best.empty() ? core.size() + 1 : best.size());
    if (!cycle.empty()) best = std::move(cycle);
  }
  std::vector<ChannelStep> steps;
  for (const Channel channel : best)
    steps.push_back({PortIdx{channel / vls_}, Vl{static_cast<std::uint8_t>(channel % vls_)}});
  return steps;
}

}  // namespace smd

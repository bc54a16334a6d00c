// Channels that can wait for each other in a circle. Only channels between switches can: an adapter
// takes what arrives.
#include <algorithm>
#include <array>
#include <bit>
#include <deque>

#include <fmt/core.h>

#include "sim-backend/management/fabric_oracle.h"

namespace smd::sim {
namespace {

constexpr std::uint64_t kAllDropped = ~std::uint64_t{0};
constexpr std::uint32_t kUnseen = UINT32_MAX;

unsigned vl_of(std::uint64_t row, unsigned sl) {
  return static_cast<unsigned>(row >> (4 * sl) & 15);
}

}  // namespace

FabricOracle::Graph FabricOracle::channels() const {
  Graph graph;
  std::vector<std::uint32_t> vertex_of(ports_.size(), kUnseen);
  for (const Switch& sw : switches_) {
    for (unsigned p = 1; p <= sw.ports; ++p) {
      const Port& port = ports_[sw.first + p];
      if (!port.carries || port.peer.kind != Kind::Switch) continue;
      vertex_of[sw.first + p] = static_cast<std::uint32_t>(graph.virtual_channels.size());
      graph.virtual_channels.push_back({sw.first + p, 0});
    }
  }
  for (const VirtualChannel& vertex : graph.virtual_channels) {
    graph.first.push_back(static_cast<std::uint32_t>(graph.next.size()));
    const Peer& peer = ports_[vertex.port].peer;
    const Switch& there = switches_[peer.index];
    for (unsigned out = 1; out <= there.ports; ++out) {
      const std::uint32_t to = vertex_of[there.first + out];
      const std::size_t t = turn(there, peer.port, static_cast<std::uint8_t>(out));
      if (to == kUnseen || there.turns[t] == 0 || there.sl_to_vl[t] == kAllDropped) continue;
      graph.next.push_back(to);
    }
  }
  graph.first.push_back(static_cast<std::uint32_t>(graph.next.size()));
  return graph;
}

/// By SL: the VLs that its packets can have on the channel that leaves by `out`.
std::vector<std::uint16_t> FabricOracle::arriving_vls(std::uint32_t sw, std::uint8_t out) const {
  const Switch& at = switches_[sw];
  std::vector<std::uint16_t> vls(16, 0);
  for (unsigned in = 0; in <= at.ports; ++in) {
    if (in == out || (in != 0 && !ports_[at.first + in].up)) continue;
    const std::uint64_t row = at.sl_to_vl[turn(at, static_cast<std::uint8_t>(in), out)];
    for (unsigned sl = 0; sl < 16; ++sl) {
      if (vl_of(row, sl) != 15) vls[sl] |= static_cast<std::uint16_t>(1u << vl_of(row, sl));
    }
  }
  return vls;
}

FabricOracle::Graph FabricOracle::virtual_channels_of_each() const {
  const Graph plain = channels();
  Graph graph;
  for (const VirtualChannel& vertex : plain.virtual_channels) {
    for (unsigned vl = 0; vl < kVls; ++vl) {
      graph.virtual_channels.push_back({vertex.port, static_cast<std::uint8_t>(vl)});
    }
  }
  for (std::uint32_t c = 0; c < plain.virtual_channels.size(); ++c) {
    const std::uint32_t port = plain.virtual_channels[c].port;
    const auto from = std::ranges::upper_bound(switches_, port, {}, &Switch::first) - 1;
    const std::vector<std::uint16_t> arriving =
        arriving_vls(static_cast<std::uint32_t>(from - switches_.begin()),
                     static_cast<std::uint8_t>(port - from->first));
    const Peer& peer = ports_[port].peer;
    const Switch& there = switches_[peer.index];
    std::array<std::vector<std::uint32_t>, kVls> next;
    for (std::uint32_t e = plain.first[c]; e < plain.first[c + 1]; ++e) {
      const std::uint32_t to = plain.next[e];
      const auto out = static_cast<std::uint8_t>(plain.virtual_channels[to].port - there.first);
      const std::uint64_t row = there.sl_to_vl[turn(there, peer.port, out)];
      std::array<std::uint16_t, kVls> next_vls{};
      for (unsigned sl = 0; sl < 16; ++sl) {
        if (vl_of(row, sl) == 15) continue;
        for (unsigned vl = 0; vl < kVls; ++vl) {
          if ((arriving[sl] >> vl & 1) != 0) {
            next_vls[vl] |= static_cast<std::uint16_t>(1u << vl_of(row, sl));
          }
        }
      }
      for (unsigned vl = 0; vl < kVls; ++vl) {
        for (unsigned w = 0; w < kVls; ++w) {
          if ((next_vls[vl] >> w & 1) != 0) next[vl].push_back(to * kVls + w);
        }
      }
    }
    for (unsigned vl = 0; vl < kVls; ++vl) {
      graph.first.push_back(static_cast<std::uint32_t>(graph.next.size()));
      graph.next.insert(graph.next.end(), next[vl].begin(), next[vl].end());
    }
  }
  graph.first.push_back(static_cast<std::uint32_t>(graph.next.size()));
  return graph;
}

/// Tarjan's strongly connected components, without recursion.
void FabricOracle::find_components(const Graph& graph) {
  struct Frame {
    std::uint32_t vertex;
    std::uint32_t edge;
  };

  const std::size_t n = graph.virtual_channels.size();
  std::vector<std::uint32_t> order(n, kUnseen), low(n, 0), stack;
  std::vector<bool> on_stack(n, false), on_cycle(ports_.size(), false);
  std::vector<Frame> frames;
  std::uint32_t seen = 0, closed = 0;
  const auto open = [&](std::uint32_t vertex) {
    order[vertex] = low[vertex] = seen++;
    stack.push_back(vertex);
    on_stack[vertex] = true;
    frames.push_back({vertex, graph.first[vertex]});
  };
  for (std::uint32_t root = 0; root < n; ++root) {
    if (order[root] == kUnseen) open(root);
    while (!frames.empty()) {
      Frame& frame = frames.back();
      if (frame.edge < graph.first[frame.vertex + 1]) {
        const std::uint32_t to = graph.next[frame.edge++];
        if (order[to] == kUnseen) {
          open(to);
        } else if (on_stack[to]) {
          low[frame.vertex] = std::min(low[frame.vertex], order[to]);
        }
        continue;
      }
      const std::uint32_t done = frame.vertex;
      frames.pop_back();
      if (!frames.empty())
        low[frames.back().vertex] = std::min(low[frames.back().vertex], low[done]);
      if (low[done] != order[done]) continue;
      // Components close after all that can be reached from them.
      const VirtualChannel& closes = graph.virtual_channels[done];
      order_[closes.port * kVls + closes.vl] = ++closed;
      std::vector<std::uint32_t> component;
      do {
        component.push_back(stack.back());
        on_stack[stack.back()] = false;
        stack.pop_back();
      } while (component.back() != done);
      const auto begin = graph.next.begin();
      const bool alone = component.size() == 1 && std::find(begin + graph.first[done],
                                                            begin + graph.first[done + 1],
                                                            done) == begin + graph.first[done + 1];
      if (alone) continue;
      for (const std::uint32_t vertex : component)
        on_cycle[graph.virtual_channels[vertex].port] = true;
      if (cycle_.empty()) trace_cycle(graph, component);
    }
  }
  deadlock_.on_cycle =
      static_cast<std::uint64_t>(std::count(on_cycle.begin(), on_cycle.end(), true));
}

/// A shortest circle through the component's first vertex.
void FabricOracle::trace_cycle(const Graph& graph, const std::vector<std::uint32_t>& component) {
  const std::uint32_t start = *std::ranges::min_element(component);
  std::vector<std::uint32_t> before(graph.virtual_channels.size(), kUnseen);
  std::deque<std::uint32_t> queue{start};
  while (before[start] == kUnseen) {
    const std::uint32_t at = queue.front();
    queue.pop_front();
    for (std::uint32_t e = graph.first[at]; e < graph.first[at + 1]; ++e) {
      if (before[graph.next[e]] != kUnseen) continue;
      before[graph.next[e]] = at;
      queue.push_back(graph.next[e]);
    }
  }
  std::vector<std::uint32_t> circle{start};
  for (std::uint32_t at = before[start]; at != start; at = before[at]) circle.push_back(at);
  circle.push_back(start);
  std::ranges::reverse(circle);
  for (const std::uint32_t vertex : circle) {
    const std::uint32_t port = graph.virtual_channels[vertex].port;
    const auto sw = std::ranges::upper_bound(switches_, port, {}, &Switch::first) - 1;
    cycle_ += fmt::format("{}{}(VL{})",
                          cycle_.empty() ? "" : " -> ",
                          name(static_cast<std::uint32_t>(sw - switches_.begin()),
                               static_cast<std::uint8_t>(port - sw->first)),
                          graph.virtual_channels[vertex].vl);
  }
}

void FabricOracle::refresh_graph() {
  if (!graph_changed_) return;
  graph_changed_ = false;
  deadlock_.channels = channels_;
  const bool holds = ordered_ && copies_ == same_on_every_vl() &&
                     std::ranges::all_of(changed_channels_, [this](std::uint32_t port) {
                       return respects_order(port);
                     });
  for (const std::uint32_t port : changed_channels_) is_changed_[port] = false;
  changed_channels_.clear();
  if (holds) return;
  cycle_.clear();
  copies_ = same_on_every_vl();
  find_components(copies_ ? channels() : virtual_channels_of_each());
  ordered_ = deadlock_.on_cycle == 0;
}

/// Whether the order falls along every dependency of the channel.
bool FabricOracle::respects_order(std::uint32_t port) const {
  const Peer& peer = ports_[port].peer;
  if (!ports_[port].carries || peer.kind != Kind::Switch) return true;
  const auto from = std::ranges::upper_bound(switches_, port, {}, &Switch::first) - 1;
  std::vector<std::uint16_t> arriving;
  if (!copies_) {
    arriving = arriving_vls(static_cast<std::uint32_t>(from - switches_.begin()),
                            static_cast<std::uint8_t>(port - from->first));
  }
  const std::uint32_t* const here = &order_[port * kVls];
  const Switch& there = switches_[peer.index];
  for (unsigned out = 1; out <= there.ports; ++out) {
    const std::uint32_t to = there.first + out;
    const std::size_t t = turn(there, peer.port, static_cast<std::uint8_t>(out));
    if (there.turns[t] == 0 || there.sl_to_vl[t] == kAllDropped) continue;
    if (!ports_[to].carries || ports_[to].peer.kind != Kind::Switch) continue;
    const std::uint32_t* const onward = &order_[to * kVls];
    if (copies_) {
      if (here[0] <= onward[0]) return false;
      continue;
    }
    for (unsigned sl = 0; sl < 16; ++sl) {
      const unsigned next = vl_of(there.sl_to_vl[t], sl);
      if (next == 15) continue;
      for (unsigned vls = arriving[sl]; vls != 0; vls &= vls - 1) {
        if (here[std::countr_zero(vls)] <= onward[next]) return false;
      }
    }
  }
  return true;
}

const DeadlockLevel& FabricOracle::deadlock() {
  refresh_graph();
  return deadlock_;
}

std::string FabricOracle::find_cycle() {
  refresh_graph();
  return cycle_;
}

}  // namespace smd::sim

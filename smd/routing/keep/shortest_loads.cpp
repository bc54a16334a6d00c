#include "smd/routing/keep/shortest_loads.h"

#include <algorithm>
#include <cstring>
#include <span>

namespace smd {
namespace {

constexpr std::uint32_t kNowhere = 0xffffffff;

class Counter {
 public:
  Counter(const SwitchGraph& graph,
          const IndexVector<SwitchIdx, std::uint32_t>& sources,
          const ForwardingTables& tables)
      : graph_(graph), sources_(sources), tables_(tables), depth_(graph.switches()) {
    for (const SwitchIdx sw : sources.indices()) {
      const auto edges = graph.edges(sw);
      first_.push_back(static_cast<std::uint32_t>(hops_.size()));
      if (!edges.empty()) hops_.resize(hops_.size() + edges.back().port.value() + 1u);
      std::uint32_t position = graph.first_edge(sw);
      for (const SwitchEdge& edge : edges)
        hops_[first_.back() + edge.port.value()] = {edge.to.value(), position++};
    }
    first_.push_back(static_cast<std::uint32_t>(hops_.size()));
    carried_.assign(hops_.size(), 0);
    for (const SwitchIdx sw : sources.indices()) {
      if (sources[sw] != 0) senders_.push_back(sw.value());
    }
  }

  /// LIDs at `last`, and what each draws.
  void count(SwitchIdx last, std::span<const Lid> lids, std::span<const std::uint32_t> draws) {
    sort_by_depth(last, lids);
    // Padded to whole words of four.
    width_ = (lids.size() + kStep - 1) / kStep * kStep;
    flow_.assign(depth_.size() * width_, 0);
    for (const std::uint32_t sw : senders_)
      std::fill_n(flow_.begin() + static_cast<std::ptrdiff_t>(sw * width_),
                  lids.size(),
                  static_cast<std::uint16_t>(sources_[SwitchIdx{sw}]));
    for (std::size_t at = order_.size(); at-- > 1;) {
      if (at > kAhead) fetch(order_[at - kAhead], lids);
      hand_over(order_[at], lids, draws);
    }
  }

  [[nodiscard]] std::vector<std::uint64_t> by_edge(const std::vector<std::uint32_t>& costs) const {
    std::vector<std::uint64_t> load(graph_.edge_count(), 0);
    for (std::size_t at = 0; at < hops_.size(); ++at) {
      if (hops_[at].edge != kNowhere) load[hops_[at].edge] = carried_[at] * costs[hops_[at].edge];
    }
    return load;
  }

 private:
  static constexpr std::size_t kStep = 4;
  // Every row is in another page, which takes longer to reach than to read.
  static constexpr std::size_t kAhead = 12;

  void fetch(std::uint32_t sw, std::span<const Lid> lids) const {
    const PortNum* const row = tables_.row(SwitchIdx{sw}).data();
    __builtin_prefetch(row + lids.front().value());
    __builtin_prefetch(row + lids.back().value());
  }

  void hand_over(std::uint32_t sw,
                 std::span<const Lid> lids,
                 std::span<const std::uint32_t> draws) {
    const PortNum* const row = tables_.row(SwitchIdx{sw}).data();
    const Hop* const hops = hops_.data() + first_[sw];
    std::uint64_t* const carried = carried_.data() + first_[sw];
    std::uint16_t* const flows = flow_.data();
    const std::uint16_t* const flow = flows + sw * width_;
    for (std::size_t begin = 0; begin < lids.size(); begin += kStep) {
      // Most switches in the middle carry few of the LIDs.
      if (std::uint64_t any; std::memcpy(&any, flow + begin, sizeof any), any == 0) continue;
      const std::size_t end = std::min(begin + kStep, lids.size());
      for (std::size_t j = begin; j < end; ++j) {
        const std::size_t port = row[lids[j].value()].value();
        carried[port] += std::uint64_t{flow[j]} * draws[j];
        std::uint16_t& onward = flows[hops[port].to * width_ + j];
        onward = static_cast<std::uint16_t>(onward + flow[j]);
      }
    }
  }

  struct Hop {
    std::uint32_t to = kNowhere;
    std::uint32_t edge = kNowhere;
  };

  [[nodiscard]] std::uint32_t next(std::uint32_t sw, Lid lid) const {
    const std::uint32_t at = first_[sw] + tables_.route(SwitchIdx{sw}, lid).value();
    return at < first_[sw + 1] ? hops_[at].to : kNowhere;
  }

  /// order_: `last`, then who reaches it, near to far.
  void sort_by_depth(SwitchIdx last, std::span<const Lid> lids) {
    const Lid lid = lids.front();
    std::ranges::fill(depth_, kUnreached);
    depth_[last.value()] = 0;
    std::vector<std::uint32_t>& count = count_;
    count.assign(2, 0);
    count[1] = 1;
    for (std::uint32_t start = 0; start < depth_.size(); ++start) {
      if (start + kAhead < depth_.size()) fetch(start + kAhead, lids);
      path_.clear();
      std::uint32_t sw = start;
      while (sw != kNowhere && depth_[sw] == kUnreached) {
        path_.push_back(sw);
        sw = next(sw, lid);
      }
      if (sw == kNowhere || depth_[sw] == kDead) {
        for (const std::uint32_t passed : path_) depth_[passed] = kDead;
        continue;
      }
      std::uint32_t depth = depth_[sw];
      for (std::size_t at = path_.size(); at-- > 0;) {
        depth_[path_[at]] = ++depth;
        if (count.size() < depth + 2) count.resize(depth + 2, 0);
        ++count[depth + 1];
      }
    }
    for (std::size_t depth = 1; depth < count.size(); ++depth) count[depth] += count[depth - 1];
    order_.resize(count.back());
    for (std::uint32_t sw = 0; sw < depth_.size(); ++sw) {
      if (depth_[sw] < kDead) order_[count[depth_[sw]]++] = sw;
    }
  }

  static constexpr std::uint32_t kDead = kUnreached - 1;  // does not get there

  const SwitchGraph& graph_;
  const IndexVector<SwitchIdx, std::uint32_t>& sources_;
  const ForwardingTables& tables_;
  std::vector<std::uint32_t> first_;  // by switch, one more than there are
  std::vector<Hop> hops_;             // by port
  std::vector<std::uint64_t> carried_;
  std::vector<std::uint32_t> depth_, order_, path_, count_;
  std::vector<std::uint32_t> senders_;
  std::size_t width_ = 0;
  std::vector<std::uint16_t> flow_;  // switch-major; there are fewer than 2^16 LIDs to send from
};

}  // namespace

std::vector<std::uint64_t> count_shortest_loads(
    const SwitchGraph& graph,
    const Targets& targets,
    const IndexVector<SwitchIdx, std::uint32_t>& sources,
    const std::vector<std::uint32_t>& costs,
    const std::vector<Destination>& destinations,
    const ForwardingTables& tables,
    unsigned offset) {
  Counter counter{graph, sources, tables};
  std::vector<Lid> lids;
  std::vector<std::uint32_t> draws;
  for (const SwitchIdx last : targets.of.indices()) {
    lids.clear();
    draws.clear();
    for (const Target& target : targets.of[last]) {
      if (offset >= 1u << target.lmc) continue;
      const Lid lid{static_cast<std::uint16_t>(target.base.value() + offset)};
      if (destinations[lid.value()].draws == 0) continue;
      lids.push_back(lid);
      draws.push_back(destinations[lid.value()].draws);
    }
    if (!lids.empty()) counter.count(last, lids, draws);
  }
  return counter.by_edge(costs);
}

}  // namespace smd

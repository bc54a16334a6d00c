#include "smd/routing/trees/tree_balance.h"

#include <fmt/format.h>
#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace smd {

Demand find_demand(const Targets& targets) {
  Demand demand{.sends = targets.hosts,
                .receives = IndexVector<SwitchIdx, std::uint32_t>(targets.of.size(), 0)};
  bool any = false;
  for (const SwitchIdx sw : targets.of.indices()) {
    for (const Target& target : targets.of[sw]) {
      if (target.host) demand.receives[sw] += target.demand;
    }
    any = any || targets.hosts[sw] != 0;
  }
  if (!any) {
    demand.sends.assign(targets.of.size(), 1);
    demand.receives.assign(targets.of.size(), 1);
  }
  return demand;
}

std::string print_balance(const BalanceReport& load) {
  return fmt::format(
      "channel load: mean {:.1f}, standard deviation {:.1f} ({:.2f} of the mean), highest {}",
      load.mean,
      load.stddev,
      load.mean > 0 ? load.stddev / load.mean : 0.0,
      load.max);
}

TreeBalance::TreeBalance(const SwitchGraph& graph, Demand demand, std::vector<std::uint32_t> costs)
    : graph_(graph),
      demand_(std::move(demand)),
      cost_(std::move(costs)),
      load_(graph.edge_count(), 0),
      flows_(graph.switches(), 0) {}

void TreeBalance::fill(const FindHops& find, SwitchTrees& trees) {
  std::fill(load_.begin(), load_.end(), 0);
  NextHops hops;
  for (const SwitchIdx destination : flows_.indices()) {
    find(destination, hops);
    flows_.assign(flows_.size(), 0);
    for (std::size_t i = 0; i < hops.order.size(); ++i) {
      const SwitchIdx sw = hops.order[i];
      flows_[sw] += demand_.sends[sw];
      std::uint32_t best = trees.edge(destination, sw);
      if (best == kNoEdge) {
        best = hops.edges[hops.first[i]];
        for (std::uint32_t at = hops.first[i]; at < hops.first[i + 1]; ++at) {
          const std::uint32_t edge = hops.edges[at];
          if (load_[edge] * cost_[edge] < load_[best] * cost_[best]) best = edge;
        }
        trees.set_edge(destination, sw, best);
      }
      load_[best] += std::int64_t{flows_[sw]} * demand_.receives[destination];
      flows_[graph_.edge(best).to] += flows_[sw];
    }
  }
}

void TreeBalance::improve(const FindHops& find,
                          SwitchTrees& trees,
                          const std::vector<char>* movable,
                          std::uint64_t budget) {
  NextHops hops;
  steps_ = 0;
  for (bool moved = true; moved;) {
    moved = false;
    for (const SwitchIdx destination : flows_.indices()) {
      if (demand_.receives[destination] == 0) continue;
      if (steps_ > budget) return;
      find(destination, hops);
      sum_flows(destination, hops, trees);
      for (std::size_t i = 0; i < hops.order.size(); ++i) {
        const SwitchIdx sw = hops.order[i];
        if (hops.first[i + 1] - hops.first[i] < 2 || flows_[sw] == 0) continue;
        if (movable != nullptr && !(*movable)[destination.value() * flows_.size() + sw.value()])
          continue;
        if (move_branch(destination, hops, i, trees)) moved = true;
      }
    }
  }
}

void TreeBalance::sum_flows(SwitchIdx destination, const NextHops& hops, const SwitchTrees& trees) {
  steps_ += hops.edges.size();
  flows_.assign(flows_.size(), 0);
  for (const SwitchIdx sw : hops.order) {
    flows_[sw] += demand_.sends[sw];
    flows_[graph_.edge(trees.edge(destination, sw)).to] += flows_[sw];
  }
}

bool TreeBalance::move_branch(SwitchIdx destination,
                              const NextHops& hops,
                              std::size_t place,
                              SwitchTrees& trees) {
  const SwitchIdx sw = hops.order[place];
  const std::uint32_t before = trees.edge(destination, sw);
  const std::int64_t paths = std::int64_t{flows_[sw]} * demand_.receives[destination];
  shift(sw, destination, trees, -paths);

  // Adding p paths to a load of l adds 2lp + p² to the sum of squares.
  const auto price = [&](std::uint32_t first) {
    std::int64_t sum = 0;
    for (std::uint32_t edge = first;;) {
      sum += (2 * load_[edge] + paths) * cost_[edge];
      ++steps_;
      const SwitchIdx at = graph_.edge(edge).to;
      if (at == destination) return sum;
      edge = trees.edge(destination, at);
    }
  };
  std::uint32_t best = before;
  std::int64_t least = price(before);
  for (std::uint32_t at = hops.first[place]; at < hops.first[place + 1]; ++at) {
    if (hops.edges[at] == before) continue;
    const std::int64_t sum = price(hops.edges[at]);
    if (sum >= least) continue;
    least = sum;
    best = hops.edges[at];
  }
  if (best != before) {
    const std::uint32_t branch = flows_[sw];
    for (SwitchIdx at = graph_.edge(before).to; at != destination;
         at = graph_.edge(trees.edge(destination, at)).to)
      flows_[at] -= branch;
    trees.set_edge(destination, sw, best);
    for (SwitchIdx at = graph_.edge(best).to; at != destination;
         at = graph_.edge(trees.edge(destination, at)).to)
      flows_[at] += branch;
  }
  shift(sw, destination, trees, paths);
  return best != before;
}

void TreeBalance::shift(SwitchIdx from,
                        SwitchIdx destination,
                        const SwitchTrees& trees,
                        std::int64_t paths) {
  for (SwitchIdx at = from; at != destination;) {
    const std::uint32_t edge = trees.edge(destination, at);
    load_[edge] += paths;
    at = graph_.edge(edge).to;
  }
}

std::vector<std::uint64_t> TreeBalance::loads() const {
  std::vector<std::uint64_t> loads(load_.size());
  for (std::size_t edge = 0; edge < loads.size(); ++edge)
    loads[edge] = static_cast<std::uint64_t>(load_[edge]) * cost_[edge];
  return loads;
}

BalanceReport TreeBalance::measure() const {
  BalanceReport report;
  if (load_.empty()) return report;
  const auto count = static_cast<double>(load_.size());
  for (const std::int64_t load : load_) {
    report.max = std::max(report.max, static_cast<std::uint64_t>(load));
    report.mean += static_cast<double>(load) / count;
  }
  for (const std::int64_t load : load_) {
    const double off = static_cast<double>(load) - report.mean;
    report.stddev += off * off / count;
  }
  report.stddev = std::sqrt(report.stddev);
  return report;
}

}  // namespace smd

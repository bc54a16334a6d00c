#include "smd/routing/itb_vl/trees.h"

#include <algorithm>
#include <utility>

#include "smd/routing/trees/rebalance.h"

namespace smd {
namespace {

class TreesOfSwitches final : public MovableTrees {
 public:
  TreesOfSwitches(const Demand& demand, const std::vector<char>& changed, SwitchTrees& trees)
      : demand_(demand), changed_(changed), trees_(trees) {}

  [[nodiscard]] std::uint32_t count() const override {
    return static_cast<std::uint32_t>(trees_.switches());
  }

  [[nodiscard]] SwitchIdx root(std::uint32_t tree) const override { return SwitchIdx{tree}; }

  [[nodiscard]] std::uint32_t demand(std::uint32_t tree) const override {
    return demand_.receives[SwitchIdx{tree}];
  }

  [[nodiscard]] std::uint32_t edge(std::uint32_t tree, SwitchIdx sw) const override {
    return trees_.edge(SwitchIdx{tree}, sw);
  }

  [[nodiscard]] bool has_changed(std::uint32_t tree) const override {
    const auto first = changed_.begin() + static_cast<std::ptrdiff_t>(tree * trees_.switches());
    return std::find(first, first + static_cast<std::ptrdiff_t>(trees_.switches()), 1) !=
           first + static_cast<std::ptrdiff_t>(trees_.switches());
  }

  [[nodiscard]] bool has_changed(std::uint32_t tree, SwitchIdx sw) const override {
    return changed_[tree * trees_.switches() + sw.value()] != 0;
  }

  [[nodiscard]] bool take(std::uint32_t tree, SwitchIdx sw, std::uint32_t edge) override {
    trees_.set_edge(SwitchIdx{tree}, sw, edge);
    return true;
  }

 private:
  const Demand& demand_;
  const std::vector<char>& changed_;
  SwitchTrees& trees_;
};

}  // namespace

AllowedNextHops::AllowedNextHops(const SwitchGraph& graph,
                                 const UpDownGraph& oriented,
                                 const UpDownRule& rule)
    : graph_(graph),
      rule_(rule),
      shortest_(graph),
      legal_(oriented),
      cuts_(graph.switches(), 0),
      goes_up_(graph.switches(), 0) {}

void AllowedNextHops::find(Kind kind, SwitchIdx destination, NextHops& hops) {
  if (kind == Kind::Legal) return legal_.find(destination, hops);
  shortest_.find(destination, hops);
  if (kind == Kind::LeastCuts) keep_least_cuts(destination, hops);
}

// A path up costs whoever comes down from above one cut more, so of paths with equally few cuts
// those down are taken; all next hops of a switch lead the same direction then, whichever the tree
// takes.
void AllowedNextHops::keep_least_cuts(SwitchIdx destination, NextHops& hops) {
  cuts_[destination] = 0;
  goes_up_[destination] = 0;
  const auto rate = [&](std::uint32_t edge) {
    const SwitchIdx to = graph_.edge(edge).to;
    const bool cut = !rule_.is_up(edge) && goes_up_[to];
    return std::pair{cuts_[to] + (cut ? 1u : 0u), rule_.is_up(edge)};
  };
  // Nearest first: what is ahead decides.
  for (std::size_t i = hops.order.size(); i-- > 0;) {
    const std::span<std::uint32_t> edges{hops.edges.data() + hops.first[i],
                                         hops.edges.data() + hops.first[i + 1]};
    auto best = rate(edges.front());
    for (const std::uint32_t edge : edges) best = std::min(best, rate(edge));
    cuts_[hops.order[i]] = best.first;
    goes_up_[hops.order[i]] = best.second ? 1 : 0;
    for (std::uint32_t& edge : edges) {
      if (rate(edge) != best) edge = kNoEdge;
    }
  }
  best_.clear();
  for (std::size_t i = 0; i < hops.order.size(); ++i) {
    best_.order.push_back(hops.order[i]);
    for (std::uint32_t at = hops.first[i]; at < hops.first[i + 1]; ++at) {
      if (hops.edges[at] != kNoEdge) best_.edges.push_back(hops.edges[at]);
    }
    best_.close();
  }
  std::swap(hops, best_);
}

void keep_fresh(std::span<const SwitchTrees> others, SwitchIdx destination, NextHops& hops) {
  if (others.empty()) return;
  NextHops fresh;
  fresh.clear();
  for (std::size_t i = 0; i < hops.order.size(); ++i) {
    const SwitchIdx sw = hops.order[i];
    const std::span<const std::uint32_t> edges{hops.edges.data() + hops.first[i],
                                               hops.edges.data() + hops.first[i + 1]};
    const auto uses = [&](std::uint32_t edge) {
      return std::ranges::count_if(
          others, [&](const SwitchTrees& tree) { return tree.edge(destination, sw) == edge; });
    };
    const auto least = uses(std::ranges::min(edges, {}, uses));
    fresh.order.push_back(sw);
    std::ranges::copy_if(edges, std::back_inserter(fresh.edges), [&](std::uint32_t edge) {
      return uses(edge) == least;
    });
    fresh.close();
  }
  std::swap(hops, fresh);
}

Imbalance rebalance_switch_trees(const SwitchGraph& graph,
                                 const Demand& demand,
                                 const std::vector<std::uint32_t>& costs,
                                 const TreeBalance& balance,
                                 const std::vector<char>& changed,
                                 const Imbalance& before,
                                 SwitchTrees& trees) {
  std::vector<std::uint64_t> load = balance.loads();
  TreesOfSwitches movable{demand, changed, trees};
  Traffic traffic{.sources = demand.sends,
                  .demand = IndexVector<SwitchIdx, std::uint64_t>(graph.switches(), 0)};
  for (const SwitchIdx sw : traffic.demand.indices()) traffic.demand[sw] = demand.receives[sw];
  const LoadTarget aim =
      find_load_target(find_least_peak(graph, traffic, costs, load), before, load);
  LoadRebalancer{graph, traffic.sources, costs, load, movable}.run(aim);
  return carry_imbalance(before, load);
}

}  // namespace smd

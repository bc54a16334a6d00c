#include "smd/routing/itb/tree_relief.h"

#include <algorithm>

#include "smd/routing/keep/load_aim.h"
#include "smd/routing/keep/relief.h"

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

  [[nodiscard]] std::uint32_t draws(std::uint32_t tree) const override {
    return demand_.draws[SwitchIdx{tree}];
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
  static_assert(kNoWay == kNoEdge);

  const Demand& demand_;
  const std::vector<char>& changed_;
  SwitchTrees& trees_;
};

}  // namespace

Evenness relieve_switch_trees(const SwitchGraph& graph,
                              const Demand& demand,
                              const std::vector<std::uint32_t>& costs,
                              const TreeBalance& balance,
                              const std::vector<char>& changed,
                              const Evenness& before,
                              SwitchTrees& trees) {
  std::vector<std::uint64_t> load = balance.loads();
  TreesOfSwitches movable{demand, changed, trees};
  Traffic traffic{.sources = demand.sends,
                  .draws = IndexVector<SwitchIdx, std::uint64_t>(graph.switches(), 0)};
  for (const SwitchIdx sw : traffic.draws.indices()) traffic.draws[sw] = demand.draws[sw];
  const LoadAim aim = find_load_aim(find_least_peak(graph, traffic, costs, load), before, load);
  Relief{graph, traffic.sources, costs, load, movable}.run(aim);
  return carry_evenness(before, load);
}

}  // namespace smd

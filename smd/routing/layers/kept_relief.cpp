#include "smd/routing/layers/kept_relief.h"

#include <algorithm>

#include "smd/routing/keep/load_aim.h"
#include "smd/routing/keep/relief.h"

namespace smd {
namespace {

class FamilyTrees final : public MovableTrees {
 public:
  explicit FamilyTrees(const TreesToRelieve& on) : on_(on) {
    for (const TreeFamily& family : on.plan.families) {
      if (on.offset < family.trees && family.weight != 0) families_.push_back(&family);
    }
  }

  [[nodiscard]] std::uint32_t count() const override {
    return static_cast<std::uint32_t>(families_.size());
  }

  [[nodiscard]] SwitchIdx root(std::uint32_t tree) const override { return families_[tree]->root; }

  [[nodiscard]] std::uint32_t draws(std::uint32_t tree) const override {
    return static_cast<std::uint32_t>(families_[tree]->weight);
  }

  [[nodiscard]] std::uint32_t edge(std::uint32_t tree, SwitchIdx sw) const override {
    const std::uint8_t way = on_.trees.ways(number(tree))[sw.value()];
    return way == smd::kNoWay ? kNoWay : on_.graph.first_edge(sw) + way;
  }

  [[nodiscard]] bool has_changed(std::uint32_t tree) const override {
    return !on_.changed[number(tree)].empty();
  }

  [[nodiscard]] bool has_changed(std::uint32_t tree, SwitchIdx sw) const override {
    return std::ranges::count(on_.changed[number(tree)], sw.value()) != 0;
  }

  /// Not where more LIDs of the same port would go the same way.
  [[nodiscard]] bool take(std::uint32_t tree, SwitchIdx sw, std::uint32_t edge) override {
    const TreeFamily& family = *families_[tree];
    const auto to = static_cast<std::uint8_t>(edge - on_.graph.first_edge(sw));
    std::uint8_t& way = on_.trees.ways(number(tree))[sw.value()];
    int more = 0;
    for (std::uint32_t other = 0; other < family.trees; ++other) {
      const std::uint8_t its = on_.trees.ways(family.first_tree + other)[sw.value()];
      if (other != on_.offset) more += (its == to) - (its == way);
    }
    if (more > 0) return false;
    way = to;
    on_.changed[number(tree)].push_back(sw.value());
    return true;
  }

 private:
  [[nodiscard]] std::uint32_t number(std::uint32_t tree) const {
    return families_[tree]->first_tree + on_.offset;
  }

  const TreesToRelieve& on_;
  std::vector<const TreeFamily*> families_;
};

}  // namespace

Evenness relieve_trees(TreesToRelieve on, TreeGrower& grower, const Evenness& before) {
  FamilyTrees trees{on};
  Traffic traffic{.sources = IndexVector<SwitchIdx, std::uint32_t>(on.graph.switches(), 0),
                  .draws = IndexVector<SwitchIdx, std::uint64_t>(on.graph.switches(), 0)};
  for (const SwitchIdx sw : traffic.sources.indices())
    traffic.sources[sw] = on.plan.weight_of_source[sw.value()];
  for (std::uint32_t tree = 0; tree < trees.count(); ++tree)
    traffic.draws[trees.root(tree)] += trees.draws(tree);
  std::vector<std::uint64_t>& load = grower.loads();
  const LoadAim aim =
      find_load_aim(find_least_peak(on.graph, traffic, grower.slowness(), load), before, load);
  Relief relief{on.graph, traffic.sources, grower.slowness(), load, trees};
  relief.run(aim);
  return carry_evenness(before, load);
}

}  // namespace smd

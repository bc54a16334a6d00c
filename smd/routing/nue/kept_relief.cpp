// What a change leaves uneven in the trees that are kept: the fullest links give away what other
// ways take as well.
#include "smd/routing/keep/load_aim.h"
#include "smd/routing/keep/relief.h"
#include "smd/routing/nue/kept_trees.h"

namespace smd {

class KeptTrees::Movable final : public MovableTrees {
 public:
  explicit Movable(KeptTrees& kept) : kept_(kept) {}

  [[nodiscard]] std::uint32_t count() const override {
    return static_cast<std::uint32_t>(kept_.wanted_.size());
  }

  [[nodiscard]] SwitchIdx root(std::uint32_t tree) const override {
    return kept_.wanted_[tree].last;
  }

  [[nodiscard]] std::uint32_t draws(std::uint32_t tree) const override {
    return kept_.wanted_[tree].draws;
  }

  [[nodiscard]] std::uint32_t edge(std::uint32_t tree, SwitchIdx sw) const override {
    const Wanted& wanted = kept_.wanted_[tree];
    return sw == wanted.last ? kNoWay : kept_.entry(sw, wanted.lid);
  }

  [[nodiscard]] bool has_changed(std::uint32_t tree) const override {
    return kept_.moved_[kept_.wanted_[tree].lid.value()] != 0;
  }

  [[nodiscard]] bool has_changed(std::uint32_t tree, SwitchIdx sw) const override {
    const Lid lid = kept_.wanted_[tree].lid;
    const ForwardingTables& before = kept_.in_force_.routing->lft;
    const SwitchIdx row = kept_.before_[sw];
    return row == kNone<SwitchIdx> || lid > before.top() ||
           before.route(row, lid) != kept_.result_.lft.route(sw, lid);
  }

  [[nodiscard]] bool take(std::uint32_t tree, SwitchIdx, std::uint32_t edge) override {
    return kept_.turn(kept_.wanted_[tree], edge);
  }

 private:
  static_assert(kNoWay == kNoChannel);

  KeptTrees& kept_;
};

void KeptTrees::relieve() {
  // What is aimed at later must not depend on how often nothing changed before.
  if (!recabled_) {
    result_.load.evenness = in_force_.routing->load.evenness;
    return;
  }
  Movable trees{*this};
  Traffic traffic{.sources = targets_.hosts,
                  .draws = IndexVector<SwitchIdx, std::uint64_t>(graph_.switches(), 0)};
  for (const Wanted& wanted : wanted_) traffic.draws[wanted.last] += wanted.draws;
  const LoadAim aim = find_load_aim(
      find_least_peak(graph_, traffic, costs_, load_), in_force_.routing->load.evenness, load_);
  Relief{graph_, traffic.sources, costs_, load_, trees}.run(aim);
  result_.load.evenness = carry_evenness(in_force_.routing->load.evenness, load_);
}

// The switch that `exit` leaves takes it, if the turns are free on the LID's lane.
bool KeptTrees::turn(const Wanted& wanted, Channel exit) {
  const SwitchIdx sw = channels_.from[exit];
  TurnSet& turns = turns_[lane_[wanted.lid.value()]];
  const Channel next =
      channels_.to[exit] == wanted.last ? kNoChannel : entry(channels_.to[exit], wanted.lid);
  bool free = next == kNoChannel || turns.add(exit, next);
  for (Channel c = channels_.first[sw.value()]; free && c < channels_.first[sw.value() + 1]; ++c) {
    if (entry(channels_.to[c], wanted.lid) == channels_.reverse[c])
      free = turns.add(channels_.reverse[c], exit);
  }
  if (!free) {
    turns.take_back();
    return false;
  }
  turns.keep();
  result_.lft.set_route(sw, wanted.lid, graph_.edge(exit).port);
  moved_[wanted.lid.value()] = 1;
  return true;
}

}  // namespace smd

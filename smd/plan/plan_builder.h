// What all kinds of plans have in common: which entries come first, which links are woken when,
// and what is blocked in the end.
#pragma once

#include <string>
#include <vector>

#include "smd/plan/ordered_search.h"

namespace smd {

class PlanBuilder {
 public:
  PlanBuilder(const TransitionTask& task, bool whole_tables);

  [[nodiscard]] const TransitionTask& task() const { return task_; }

  [[nodiscard]] const PlanScene& scene() const { return scene_; }

  [[nodiscard]] bool has_work() const;

  /// No turns yet; those that remain blocked are struck, and bounces unless they count.
  [[nodiscard]] TurnGraph empty_graph(bool bounces) const;

  /// A turn that was to be restored remains blocked.
  void keep_blocked(const std::vector<Turn>& turns);

  /// Without phases. Says what remains blocked.
  [[nodiscard]] TransitionPlan begin(TransitionKind kind) const;

  /// Entries of switches with data would lead over links that do not carry any yet.
  [[nodiscard]] bool must_wake_first(const Mixture& mixture) const;

  /// Entries of idle switches and turns to be restored come first, then, when asked to, links
  /// between switches are woken in a phase of its own; all other links are woken last. `waking`
  /// proves that phase; without it the proof is looked for, and false returned when there is none.
  [[nodiscard]] bool fill(TransitionPlan& plan,
                          Mixture& mixture,
                          const std::vector<OrderedPhase>& phases,
                          bool wake_first,
                          const ChannelOrder* waking = nullptr) const;

  /// The same with everything proved. `before`: links between switches are woken, and rows written,
  /// in a phase of its own.
  void fill_phases(TransitionPlan& plan,
                   const Mixture& mixture,
                   const std::vector<OrderedPhase>& phases,
                   const ChannelOrder* before) const;

  /// All entries at once; then every port is woken, those of `deactivated` again.
  void fill_at_once(TransitionPlan& plan,
                    const Mixture& mixture,
                    const std::vector<PortIdx>& deactivated) const;

 private:
  [[nodiscard]] std::vector<PortIdx> all_wakes() const;

  const TransitionTask& task_;
  bool whole_tables_;
  PlanScene scene_;
};

/// The turn as two ports of its switch.
[[nodiscard]] inline std::pair<PortIdx, PortIdx> ports_of(const Fabric& fabric, const Turn& turn) {
  const NodeIdx node = fabric.switch_node[turn.sw];
  return {fabric.port_of(node, turn.in), fabric.port_of(node, turn.out)};
}

}  // namespace smd

// Plans of every kind from phases that were found, those among them that discard data because no
// order of the changes is safe.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "smd/plan/make/ordered_phases.h"

namespace smd {

// What all kinds of plans have in common: which entries come first, which links are activated when,
// and what is blocked in the end.

class PlanBuilder {
 public:
  PlanBuilder(const TransitionTask& task, bool whole_tables);

  [[nodiscard]] const TransitionTask& task() const { return task_; }

  [[nodiscard]] const InitialState& initial() const { return initial_; }

  [[nodiscard]] bool has_work() const;

  /// No turns yet; those that remain blocked are forbidden, and U-turns unless they count.
  [[nodiscard]] TurnGraph empty_graph(bool u_turns) const;

  /// A turn that was to be restored remains blocked.
  void keep_blocked(const std::vector<Turn>& turns);

  /// Without phases. Says what remains blocked.
  [[nodiscard]] TransitionPlan begin(TransitionKind kind) const;

  /// Entries of switches with data would lead over links of which an end is not Active yet.
  [[nodiscard]] bool must_activate_first(const TransientGraph& transient) const;

  /// Entries of idle switches and turns to be restored come first, then, when asked to, links
  /// between switches are activated in a phase of its own; all other links are activated last.
  /// `activation` proves that phase; without it the proof is looked for, and false returned when
  /// there is none.
  [[nodiscard]] bool fill(TransitionPlan& plan,
                          TransientGraph& transient,
                          const std::vector<OrderedPhase>& phases,
                          bool activate_first,
                          const ChannelOrder* activation = nullptr) const;

  /// The same with everything proved. `before`: links between switches are activated, and SL-to-VL
  /// entries written, in a phase of its own.
  void fill_phases(TransitionPlan& plan,
                   const TransientGraph& transient,
                   const std::vector<OrderedPhase>& phases,
                   const ChannelOrder* before) const;

  /// All entries at once; then every port is activated, those of `deactivated` again.
  void fill_at_once(TransitionPlan& plan,
                    const TransientGraph& transient,
                    const std::vector<PortIdx>& deactivated) const;

 private:
  [[nodiscard]] std::vector<PortIdx> all_activations() const;

  const TransitionTask& task_;
  bool whole_tables_;
  InitialState initial_;
};

/// The turn as two ports of its switch.
[[nodiscard]] inline std::pair<PortIdx, PortIdx> ports_of(const Fabric& fabric, const Turn& turn) {
  const NodeIdx node = fabric.switch_node[turn.sw];
  return {fabric.port_of(node, turn.in), fabric.port_of(node, turn.out)};
}

// Plans that discard some data, or all of it, because no order of the changes is safe.

/// Blocks turns until no mixture of entries can close a cycle. With an orientation: all that it
/// forbids. `only_needed`: as few as a greedy choice finds, for routes of any kind. None when the
/// wanted routes need a turn that would have to be blocked.
[[nodiscard]] std::optional<TransitionPlan> plan_cut_dependencies(PlanBuilder& builder,
                                                                  TransientGraph& transient,
                                                                  bool only_needed);

/// Leaves every cut node its up port of the highest number; the others come back in a second phase.
/// Needs the orientation of the wanted routes. Proved where it can be.
[[nodiscard]] TransitionPlan plan_cut_ports(const PlanBuilder& builder, TransientGraph& transient);

/// Every Active port goes down.
[[nodiscard]] TransitionPlan plan_deactivate_all(const PlanBuilder& builder,
                                                 TransientGraph& transient);

/// The certificate of a plan during which nothing flows: of the wanted routes. None when they have
/// a cycle.
void prove_silent(const PlanBuilder& builder, TransientGraph& transient, TransitionPlan& plan);

[[nodiscard]] TransitionPlan plan_unordered(const PlanBuilder& builder,
                                            const TransientGraph& transient);

}  // namespace smd

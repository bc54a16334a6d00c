// Finds the plan with the fewest phases that its kind allows.
#pragma once

#include "smd/plan/transition.h"

namespace smd {

/// What to do where no loss-free order exists; each falls back on the next one.
enum class Deactivation : std::uint8_t { Certified, CutDependencies, CutPorts, All, None };

struct PlannerOptions {
  Deactivation first = Deactivation::Certified;
  bool whole_tables = false;  // every entry of every switch is written, not only what differs
  unsigned max_phases = 32;   // the budget of the loss-free search
};

/// Never fails: what cannot be proved is deactivated, and `why` says so.
[[nodiscard]] TransitionPlan plan_transition(const TransitionTask& task,
                                             const PlannerOptions& options);

/// Outwards from each destination, distance by distance along the wanted routes: nobody is sent
/// to a switch that does not know the new route yet. Phases that can be proved are.
[[nodiscard]] TransitionPlan plan_next_hop_first(const TransitionTask& task,
                                                 const PlannerOptions& options);

}  // namespace smd

// Plans that discard some data, or all of it, because no order of the changes is safe.
#pragma once

#include <optional>

#include "smd/plan/plan_builder.h"

namespace smd {

/// Blocks turns until no mixture of entries can close a cycle. With an orientation: all that it
/// forbids. `only_needed`: as few as a greedy choice finds, for routes of any kind. None when the
/// wanted routes need a turn that would have to be blocked.
[[nodiscard]] std::optional<TransitionPlan> plan_cut_dependencies(PlanBuilder& builder,
                                                                  Mixture& mixture,
                                                                  bool only_needed);

/// Leaves every cut node its up port of the highest number; the others come back in a second phase.
/// Needs the orientation of the wanted routes. Proved where it can be.
[[nodiscard]] TransitionPlan plan_cut_ports(const PlanBuilder& builder, Mixture& mixture);

/// Every Active port goes down.
[[nodiscard]] TransitionPlan plan_deactivate_all(const PlanBuilder& builder, Mixture& mixture);

/// The certificate of a plan during which nothing flows: of the wanted routes. None when they have
/// a cycle.
void prove_silent(const PlanBuilder& builder, Mixture& mixture, TransitionPlan& plan);

[[nodiscard]] TransitionPlan plan_unordered(const PlanBuilder& builder, const Mixture& mixture);

}  // namespace smd

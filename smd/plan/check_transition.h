// The judge of plans: independent of planner and engines, a linear scan per phase.
#pragma once

#include <optional>
#include <string>

#include "smd/plan/transition.h"

namespace smd {

struct TransitionVerdict {
  std::string fault;  // empty: the plan holds. Else one line: phase, what, where
  std::size_t phases_proved = 0;

  [[nodiscard]] bool ok() const { return fault.empty(); }
};

/// Of every phase that has a certificate: each dependency that any mixture of its old and new
/// entries can create rises in it. Of the whole plan: after the last phase the tables are the
/// wanted ones. A kind that promises proof (Certified, CutDependencies) must have a certificate in
/// every phase.
[[nodiscard]] TransitionVerdict check_transition(const TransitionTask& task,
                                                 const TransitionPlan& plan);

}  // namespace smd

// The verifier of plans: independent of planner and engines, a linear scan per phase.
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

/// Replays the plan. Of its steps: lists are sorted and name what there is, in a state in which the
/// step makes sense. Of every phase that has a certificate: each dependency that any mixture of its
/// old and new entries can create, or a packet of earlier phases that may linger, respects it. Of
/// the whole plan: tables are the wanted ones in the end, ports that can be are Active, and no
/// wanted route needs a turn that remains blocked.
///
/// A kind that promises proof (Certified, CutDependencies) must have a certificate in every phase;
/// a Certified one blocks nothing, deactivates nothing, lets no packet leave a switch by the port
/// that it came in by, and leads none over a link that is yet to be activated. Its entries may have
/// other values before the wanted ones; those lead from switch to switch over links that carry
/// data, and need no turn that is blocked. Nothing flows while Initial and DeactivateAll change
/// tables.
[[nodiscard]] TransitionVerdict check_transition(const TransitionTask& task,
                                                 const TransitionPlan& plan);

}  // namespace smd

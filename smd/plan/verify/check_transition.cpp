#include "smd/plan/verify/check_transition.h"

#include <fmt/format.h>

#include "smd/plan/verify/replay.h"

namespace smd {
namespace {

bool promises_proof(TransitionKind kind) {
  return kind == TransitionKind::Certified || kind == TransitionKind::CutDependencies;
}

// What a kind says of every one of its phases.
std::string find_broken_promise(TransitionKind kind, const TransitionPhase& phase) {
  if (promises_proof(kind) && phase.certificate.empty()) return "it has no certificate";
  if (kind == TransitionKind::Certified && !phase.block.empty())
    return "it blocks turns, which a certified plan does not";
  if ((promises_proof(kind) || kind == TransitionKind::NextHopFirst) && !phase.deactivate.empty())
    return "it deactivates ports, which a plan of its kind does not";
  return "";
}

bool is_silent_kind(TransitionKind kind) {
  return kind == TransitionKind::Initial || kind == TransitionKind::DeactivateAll;
}

std::string check_phase(PlanReplay& replay,
                        const TransitionPlan& plan,
                        const TransitionPhase& phase) {
  if (std::string fault = find_broken_promise(plan.kind, phase); !fault.empty()) return fault;
  if (std::string fault = replay.begin_phase(phase); !fault.empty()) return fault;
  if (is_silent_kind(plan.kind) && !replay.is_silent())
    return fmt::format("data flows while a plan of kind {} changes tables",
                       print_transition_kind(plan.kind));
  return phase.certificate.empty() ? "" : replay.prove(phase.certificate);
}

}  // namespace

TransitionVerdict check_transition(const TransitionTask& task, const TransitionPlan& plan) {
  if (plan.kind == TransitionKind::Nothing && !plan.phases.empty())
    return {.fault = "a plan to do nothing has phases"};
  if (plan.kind == TransitionKind::Held)
    return {.fault = plan.phases.empty() ? "" : "a plan that leaves all as it is has phases"};
  for (const TableBlock& block : task.unknown) {
    if (block.sw.value() >= task.fabric->switch_count())
      return {.fault = "a block of unknown content is of a switch that there is not"};
  }
  TransitionVerdict verdict;
  PlanReplay replay{task, plan};
  for (std::size_t i = 0; i < plan.phases.size(); ++i) {
    const TransitionPhase& phase = plan.phases[i];
    if (std::string fault = check_phase(replay, plan, phase); !fault.empty()) {
      verdict.fault = fmt::format("phase {}: {}", i + 1, fault);
      return verdict;
    }
    if (!phase.certificate.empty()) ++verdict.phases_proved;
    replay.end_phase(i + 1 == plan.phases.size());
  }
  verdict.fault = replay.find_rest();
  return verdict;
}

}  // namespace smd

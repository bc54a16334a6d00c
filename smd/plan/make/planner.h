// Finds the plan with the fewest phases that its kind allows.
#pragma once

#include "smd/plan/transition.h"

namespace smd {

/// Where to begin. Certified blocks turns where no order of the changes is safe, and as few as it
/// can; CutDependencies blocks every turn that the orientation forbids; CutPorts deactivates all
/// ports where there is no orientation.
enum class Deactivation : std::uint8_t { Certified, CutDependencies, CutPorts, All, None };

/// What is done where nothing can be proved: nothing; all of it, nearest to its destination first;
/// or all of it while every port is down.
enum class Unproved : std::uint8_t { Hold, Write, Block };

/// Steps of a PlanBudget that a processor of 2024 does in a millisecond, about.
inline constexpr std::uint64_t kPlanStepsPerMs = 10'000;

struct PlannerOptions {
  Deactivation first = Deactivation::Certified;
  bool whole_tables = false;  // every entry of every switch is written, not only what differs
  unsigned max_phases = 32;

  /// How much may be done to find a plan on several VLs, in steps (PlanBudget); then the next kind
  /// of plan is taken.
  std::uint64_t max_steps = 1000 * kPlanStepsPerMs;

  /// Entries may have values on the way that neither table has, at any switch with data. Not for
  /// fabrics with switches that take no entries.
  bool detours = true;

  Unproved unproved = Unproved::Write;

  /// A bit for each VL that packets of SLs which are advertised no longer may be led over.
  std::uint16_t other_vls = 0x7fff;
};

/// Never fails: `why` says what could not be had. Wanted routes that close a cycle themselves make
/// an Unordered plan, since nothing could prove another one.
/// Requires: `held` and `wanted` have a row for every switch of the fabric.
[[nodiscard]] TransitionPlan plan_transition(const TransitionTask& task,
                                             const PlannerOptions& options);

/// Outwards from each destination, distance by distance along the wanted routes: nobody is sent
/// to a switch that does not know the new route yet. Phases that can be proved are.
[[nodiscard]] TransitionPlan plan_next_hop_first(const TransitionTask& task,
                                                 const PlannerOptions& options);

}  // namespace smd

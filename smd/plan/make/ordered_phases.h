// Looks for phases in which nothing has to be blocked: by channel, or by channel and VL.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "smd/plan/make/transient_graph.h"

namespace smd {

// Looks for an order of the changes in which nothing has to be blocked: phase by phase as many
// entries as fit without closing a cycle.

/// Beyond so many changes the search would take seconds, and a fallback disturbs less than a fabric
/// that waits.
inline constexpr std::size_t kMostOrderedChanges = 500'000;

struct OrderedPhase {
  std::vector<EntryChange> entries;  // sorted
  ChannelOrder certificate;
};

struct OrderedPlan {
  std::vector<OrderedPhase> phases;
  InFlight in_flight = InFlight::Linger;
  std::size_t left = 0;  // changes that found no phase
};

/// All changes at once. `empty` holds no turns, but those forbidden that cannot be taken. The links
/// of later open at the end of the phase, or before it.
[[nodiscard]] std::optional<OrderedPhase> find_single_phase(TransientGraph& transient,
                                                            const TurnGraph& empty,
                                                            bool all_flow);

/// The fewest phases of several greedy passes, which differ in the order of the entries. Of equally
/// long plans one under which packets may linger.
[[nodiscard]] std::optional<OrderedPlan> find_phases(TransientGraph& transient,
                                                     const TurnGraph& empty,
                                                     unsigned max_phases);

/// What fits into no phase is left. Of the greedy passes, for a fabric that drains between phases,
/// the one that leaves least, then the shortest.
[[nodiscard]] OrderedPlan find_most(TransientGraph& transient,
                                    const TurnGraph& empty,
                                    unsigned max_phases);

/// Of the state between plans, or before the first phase: as `stage` says for every change.
[[nodiscard]] std::optional<ChannelOrder> find_order(TransientGraph& transient,
                                                     const TurnGraph& empty,
                                                     bool all_flow);

// Looks for phases in which nothing has to be blocked, with VLs told apart: for routes that are
// free of deadlock only because packets go on different VLs.
//
// First SL-to-VL entries, then forwarding entries, LID by LID, and at last the SLs that are
// advertised to hosts; or all at once.

struct VlPlan {
  unsigned vls = 1;
  std::optional<ChannelOrder>
      before;  // SL-to-VL entries are written, and links activated, in a phase of its own
  std::vector<OrderedPhase> phases;
  bool advertised_last = false;  // in the last phase alone, which has no entries; else in the first
};

/// With `activate_first`, links between switches are activated in the phase before the others. None
/// where blocks or SL-to-VL entries are unknown, or the budget is spent. `lossless`: no SL-to-VL
/// entry discards anything. Requires: task.VLs.
[[nodiscard]] std::optional<VlPlan> find_vl_phases(const TransitionTask& task,
                                                   const InitialState& initial,
                                                   const std::vector<EntryChange>& changes,
                                                   bool activate_first,
                                                   unsigned max_phases,
                                                   PlanBudget& budget,
                                                   bool lossless = true);

/// Phases in which packets of some SLs are discarded on some turns: those that would close a cycle,
/// and that no wanted route needs.
struct BlockedSlPlan {
  VlPlan plan;  // SLs are advertised in the first phase of it
  std::vector<BlockedSls> blocked_sls;
};

/// None where that does not do. Requires: as find_vl_phases().
[[nodiscard]] std::optional<BlockedSlPlan> find_blocked_sls(const TransitionTask& task,
                                                            const InitialState& initial,
                                                            const std::vector<EntryChange>& changes,
                                                            bool activate_first,
                                                            PlanBudget& budget);

struct VlOrder {
  unsigned vls = 1;
  ChannelOrder order;
};

/// "S1:2 VL 0 > S2:3 VL 1 > …": what closes a cycle while all entries change at once, or why it was
/// not looked for. Empty: nothing. Requires: task.VLs.
[[nodiscard]] std::string find_vl_circle(const TransitionTask& task,
                                         const InitialState& initial,
                                         const std::vector<EntryChange>& changes,
                                         PlanBudget budget);

/// Of the wanted routes, when every host has asked for its paths anew.
[[nodiscard]] std::optional<VlOrder> find_wanted_order(const TransitionTask& task,
                                                       const InitialState& initial);

}  // namespace smd

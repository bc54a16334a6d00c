// Looks for an order of the changes in which nothing has to be blocked: phase by phase as many
// entries as fit without closing a cycle.
#pragma once

#include <optional>
#include <vector>

#include "smd/plan/mixture.h"

namespace smd {

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

/// All changes at once. `empty` holds no turns, but those struck that cannot be taken. The links
/// of later open at the end of the phase, or before it.
[[nodiscard]] std::optional<OrderedPhase> find_single_phase(Mixture& mixture,
                                                            const TurnGraph& empty,
                                                            bool all_flow);

/// The fewest phases of several greedy passes, which differ in the order of the entries. Of equally
/// long plans one under which packets may linger.
[[nodiscard]] std::optional<OrderedPlan> find_phases(Mixture& mixture,
                                                     const TurnGraph& empty,
                                                     unsigned max_phases);

/// What fits into no phase is left. Of the greedy passes, for a fabric that drains between phases,
/// the one that leaves least, then the shortest.
[[nodiscard]] OrderedPlan find_most(Mixture& mixture, const TurnGraph& empty, unsigned max_phases);

/// Of the state between plans, or before the first phase: as `stage` says for every change.
[[nodiscard]] std::optional<ChannelOrder> find_order(Mixture& mixture,
                                                     const TurnGraph& empty,
                                                     bool all_flow);

}  // namespace smd

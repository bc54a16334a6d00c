// Looks for phases in which nothing has to be blocked, with lanes told apart: for routes that are
// free of deadlock only because packets go on different lanes.
//
// First rows, then entries, LID by LID, and at last the SLs that hosts are told; or all at once.
#pragma once

#include <optional>

#include "smd/plan/ordered_search.h"

namespace smd {

/// Beyond so many pairs of a LID and a switch one look at all packets would take many seconds, and
/// a search phase by phase.
inline constexpr std::size_t kMostLanePairs = 30'000'000;
inline constexpr std::size_t kMostOrderedLanePairs = 2'000'000;

struct LanePlan {
  unsigned lanes = 1;
  std::optional<ChannelOrder> before;  // rows are written, and links woken, in a phase of its own
  std::vector<OrderedPhase> phases;
  bool told_last = false;  // in the last phase alone, which has no entries; else in the first
};

/// With `wake_first`, links between switches are woken in the phase before the others. None where
/// blocks or rows are unknown. Requires: task.lanes.
[[nodiscard]] std::optional<LanePlan> find_lane_phases(const TransitionTask& task,
                                                       const PlanScene& scene,
                                                       const std::vector<EntryChange>& changes,
                                                       bool wake_first,
                                                       unsigned max_phases);

/// Phases in which packets of some SLs are discarded on some ways: those that would close a cycle,
/// and that no wanted route needs.
struct LaneCutPlan {
  LanePlan plan;  // hosts are told in the first phase of it
  std::vector<SlCut> cut;
};

/// None where that does not do. Requires: as find_lane_phases().
[[nodiscard]] std::optional<LaneCutPlan> find_lane_cut(const TransitionTask& task,
                                                       const PlanScene& scene,
                                                       const std::vector<EntryChange>& changes,
                                                       bool wake_first);

struct LaneOrder {
  unsigned lanes = 1;
  ChannelOrder order;
};

/// Of the wanted routes, when every host has asked for its paths anew.
[[nodiscard]] std::optional<LaneOrder> find_wanted_order(const TransitionTask& task,
                                                         const PlanScene& scene);

}  // namespace smd

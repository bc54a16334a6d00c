// Packets of SLs that are advertised no longer have to get to their destinations by the wanted
// entries too, until their hosts ask anew. Where those SLs would close a cycle, or be discarded,
// they may be led over other VLs: by SL-to-VL entries that no wanted route needs.
#pragma once

#include <optional>
#include <vector>

#include "smd/plan/make/initial_state.h"
#include "smd/plan/make/turn_graph.h"
#include "smd/plan/transition.h"

namespace smd {

struct OtherVls {
  std::vector<BlockedSls> sls;  // sorted by turn and VL
  bool discards = false;        // some of them, for want of a VL
};

/// `at_once`: what closes a cycle while all entries change at once is discarded as well. None where
/// wanted routes close a cycle themselves, no entry that is free to be chosen helps, or the budget
/// is spent. What is found is not proved. Requires: as VlTransientGraph.
[[nodiscard]] std::optional<OtherVls> find_other_vls(const TransitionTask& task,
                                                     const InitialState& initial,
                                                     const std::vector<EntryChange>& changes,
                                                     std::uint16_t usable,
                                                     bool at_once,
                                                     PlanBudget& budget);

}  // namespace smd

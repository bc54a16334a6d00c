// Verifies the ports that switches copy one MLID to, whoever chose them, from the raw snapshot.
// Shares no code with what makes trees.
#pragma once

#include <string>
#include <vector>

#include "smd/multicast/mft_plan.h"
#include "smd/multicast/tree.h"
#include "smd/routing/sl_to_vl.h"
#include "smd/routing/verify/channel_dependencies.h"

namespace smd {

/// Empty when every receiver gets exactly one copy of what any other member that sends sends,
/// nobody else gets any, and no packet comes back to a switch or comes twice, whoever sends it;
/// else the first thing that is not so. `members` without those that are known to be stranded.
/// Requires: `masks` ascending by switch.
[[nodiscard]] std::string find_tree_fault(const Fabric& fabric,
                                          const std::vector<SwitchMask>& masks,
                                          const std::vector<TreeMember>& members);

/// Whether the links that are copied to, taken as links between switches, close no circle: then no
/// mixture of these entries copies a packet twice. Requires: ascending by switch.
[[nodiscard]] bool is_forest(const Fabric& fabric, const std::vector<SwitchMask>& masks);

/// Whether a packet may be copied upwards after it came down; `rank` as in TreeRanks.
[[nodiscard]] bool turns_up(const Fabric& fabric,
                            const std::vector<SwitchMask>& masks,
                            const IndexVector<SwitchIdx, std::uint32_t>& rank);

/// Who waits for whom: a packet that holds the channel into a switch wants every channel it is
/// copied to there. On one VL. Requires: the graph knows that VL.
void add_tree_turns(const Fabric& fabric,
                    const std::vector<SwitchMask>& masks,
                    unsigned vl,
                    ChannelGraph& graph);

/// Where a packet of that SL that the entries copy from port to port is discarded, since the row of
/// the two has VL 15 for it: the first such place. Empty: nowhere.
[[nodiscard]] std::string find_discarding_row(const Fabric& fabric,
                                              const SlToVlMaps& rows,
                                              const std::vector<SwitchMask>& masks,
                                              std::uint8_t sl);

// check_mix.cpp: what holds of entries of different trees, or of one tree while it changes.

/// Empty when no mixture of what switches may hold and what `writes` makes of it lets a packet go
/// round or come twice or, where there are ranks, be copied up after it came down; else the first
/// thing that is not so. A block that nobody read copies packets that come to its switch to every
/// other one; whether it copies them up again is not asked. Of MLIDs to which the writes add
/// nothing, nothing is asked. Shares no code with the planner.
[[nodiscard]] std::string find_mixture_fault(const Fabric& fabric,
                                             const MftMemory& memory,
                                             const std::vector<MftWrite>& writes,
                                             const IndexVector<SwitchIdx, std::uint32_t>& rank);

/// What switches may hold now, by MLID.
[[nodiscard]] MftGoals collect_possible(const Fabric& fabric, const MftMemory& memory);

struct MasksOnVl {
  std::vector<SwitchMask> masks;  // ascending by switch
  unsigned vl = 0;
};

/// Channels that wait for each other in a circle when a packet that is copied to several ports
/// moves on only where it moves on in all of them: then whoever holds any channel of one branch
/// waits for every channel further down the others. Empty: there is none. `graph` has what unicast
/// packets and the turns of the trees do.
[[nodiscard]] std::vector<ChannelStep> find_lock_step_cycle(const Fabric& fabric,
                                                            const ChannelGraph& graph,
                                                            const std::vector<MasksOnVl>& trees);

}  // namespace smd

// Verifies the ports that switches copy one MLID to, whoever chose them, from the raw snapshot.
// Shares no code with what makes trees.
#pragma once

#include <string>
#include <vector>

#include "smd/multicast/tree.h"
#include "smd/routing/verify/channel_dependencies.h"

namespace smd {

/// Empty when every receiver gets exactly one copy of what any other member sends, nobody else gets
/// any, and no packet comes back to a switch; else the first thing that is not so. `members`
/// without those that are known to be stranded. Requires: `masks` ascending by switch.
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

}  // namespace smd

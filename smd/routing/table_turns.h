// Who waits for whom when every packet is on one lane: that a packet to some LID may turn from one
// cable to another is then the affair of two neighbouring switches and their entries. For
// verification only.
#pragma once

#include "smd/fabric/lid_map.h"
#include "smd/routing/channel_graph.h"
#include "smd/routing/tables.h"

namespace smd {

/// Of LIDs that somebody has, from every switch, whether anything is sent there or not. Requires:
/// the graph knows one lane.
void add_table_turns(const Fabric& fabric,
                     const LidMap& lids,
                     const ForwardingTables& tables,
                     ChannelGraph& graph);

}  // namespace smd

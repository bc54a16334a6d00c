// Who waits for whom when every packet is on one lane: that a packet to some LID may turn from one
// cable to another is then the affair of two neighbouring switches and their entries. For
// verification only.
#pragma once

#include "smd/fabric/lid_map.h"
#include "smd/routing/channel_graph.h"
#include "smd/routing/tables.h"

namespace smd {

/// Pairs of a source and a LID whose packets are counted. Data leaves out those from the base port
/// 0 of one switch to that of another, which take nothing but SMPs, on VL 15 and without credits: a
/// base port 0 answers those who ask and asks nobody (docs/decisions/0038).
enum class Pairs : std::uint8_t { Every, Data };

/// The owner of LIDs is a switch whose port 0 asks nobody.
[[nodiscard]] bool is_base_port0(const Fabric& fabric, PortIdx port);

/// By switch: packets that ask something come from it, of a host or router there or of an enhanced
/// port 0.
[[nodiscard]] IndexVector<SwitchIdx, char> find_asking_switches(const Fabric& fabric);

/// Of LIDs that somebody has, whether anything is sent there or not. Requires: the graph knows one
/// lane.
void add_table_turns(const Fabric& fabric,
                     const LidMap& lids,
                     const ForwardingTables& tables,
                     ChannelGraph& graph,
                     Pairs pairs = Pairs::Every);

}  // namespace smd

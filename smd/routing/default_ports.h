// Tables with default ports for switches that have none.
#pragma once

#include "smd/routing/tables.h"

namespace smd {

/// Every entry that is missing and whose LID somebody has, sent where the switch sends what it has
/// no entry for. Entries of other LIDs stay missing, so that their packets die at once.
void fill_default_ports(const IndexVector<SwitchIdx, PortNum>& default_port,
                        const LidMap& lids,
                        ForwardingTables& tables);

}  // namespace smd

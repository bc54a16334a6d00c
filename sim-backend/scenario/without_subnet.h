// Scenarios of networks that are no subnet (topology/network.h): hosts have numbers in place of
// LIDs, switches a rule in place of tables, and nothing needs a manager.
#pragma once

#include <string>

#include "sim-backend/scenario/scenario.h"

namespace smd::sim {

/// Every key that asks for LIDs, tables or a manager, or means nothing without them.
[[nodiscard]] Faults check_without_subnet(const Scenario& scenario);

/// Where hosts are, as program_nodes() has it; no registers, no routes, no LIDs.
[[nodiscard]] ProgrammedFabric list_hosts(const FabricSpec& spec);

}  // namespace smd::sim

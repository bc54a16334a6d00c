// Whether an SMP to a LID would arrive, and its answer come back. While a subnet is being set up a
// LID-routed SMP is easily lost, and a lost SMP costs more than all that directed ones cost.
#pragma once

#include "smd/program/program_run.h"

namespace smd {

/// `agent` is a port that has a LID: an adapter's, or port 0 of a switch. True when both ends
/// answered with their LIDs, every switch on both ways confirmed its entry, and every link between
/// them was last seen trained.
[[nodiscard]] bool is_reachable_by_lid(const ProgramRun& run, PortIdx agent);

}  // namespace smd

// What another manager's tables are worth: entries that lead to where they should are kept by who
// takes over, so that nothing is rewritten that works.
#pragma once

#include "smd/app/route_job.h"

namespace smd::app {

/// `fresh`, with every LID's entries replaced by those of `found` where they lead from all switches
/// that `fresh` serves to the same end; verified. Nothing where that is not free of deadlock, or
/// where routes need lanes.
[[nodiscard]] std::optional<Routed> keep_found(const RouteJob& job,
                                               const ForwardingTables& found,
                                               const Routed& fresh);

}  // namespace smd::app

// Destinations that tables still lead to though nobody has their LIDs now.
#pragma once

#include "smd/routing/engine.h"
#include "smd/routing/switch_graph.h"

namespace smd {

/// Adds to `targets` each LID with entries in force that nobody has, at the switch that served it,
/// if the switch is there and leads nobody else's traffic over the port.
void add_gone_targets(const Fabric& fabric,
                      const LidMap& lids,
                      const PreviousRoutes& in_force,
                      Targets& targets);

}  // namespace smd

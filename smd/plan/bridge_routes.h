// Routes for the time between two tables that do not mix: old routes give way to them without a
// deadlock, and they to the new ones.
//
// The dependencies of the old routes and of the bridge close no cycle, nor do those of the bridge
// and of the new routes. Destination by destination a tree is grown over turns that can be added to
// both graphs.
#pragma once

#include "smd/plan/mixture.h"

namespace smd {

struct Bridge {
  ForwardingTables tables;
  std::size_t built = 0;  // LIDs that left their old routes: for a bridge, or for the wanted routes
};

/// LIDs that find no bridge keep what `task.held` has; those whose new routes go with the old ones
/// as they are have them already. `mixture` is of the task; `empty` holds no turns, but those
/// struck that cannot be taken. Only links that carry data now are used. Requires: no unknown
/// blocks; switches without data hold what they should.
[[nodiscard]] Bridge build_bridge(const TransitionTask& task,
                                  const PlanScene& scene,
                                  Mixture& mixture,
                                  const TurnGraph& empty);

}  // namespace smd

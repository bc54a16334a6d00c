// What of the trees and SLs in force still means something on another fabric.
#pragma once

#include <optional>

#include "smd/routing/itb/lane_tables.h"

namespace smd {

/// Edges that lead, by a shortest path of now, where the entries in force lead; SLs of pairs that
/// were there before. Nullopt when nothing could be kept: other lanes, or nothing in common.
[[nodiscard]] std::optional<KeptLanes> find_kept_lanes(const LaneWriting& now,
                                                       const PreviousRoutes& in_force,
                                                       unsigned offsets);

/// LIDs in use with entries other than those in force, ascending.
[[nodiscard]] std::vector<Lid> list_changed(const Fabric& fabric,
                                            const LidMap& lids,
                                            const ForwardingTables& lft,
                                            const PreviousRoutes& in_force);

}  // namespace smd

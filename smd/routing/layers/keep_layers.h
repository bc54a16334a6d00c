// Layered routes in force, taken over to a fabric that has changed.
#pragma once

#include <optional>
#include <string_view>

#include "smd/routing/layers/layered_tables.h"

namespace smd {

/// Trees keep every way that is still a shortest one, and paths that did not change keep their SL;
/// RoutingTables::recomputed has the LIDs for which that does not hold.
/// Requires: the routes in force are layered ones, of the same engine.
/// Nothing: the lanes in force and what has changed do not go together; start from scratch.
[[nodiscard]] std::optional<RoutingTables> keep_layered_tables(std::string_view engine,
                                                               const Fabric& fabric,
                                                               const LidMap& lids,
                                                               const RoutingRequest& request,
                                                               TreePer per,
                                                               Bundle bundle);

}  // namespace smd

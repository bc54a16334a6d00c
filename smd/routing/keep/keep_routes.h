// New tables out of those in force: what can stay, stays.
#pragma once

#include <optional>
#include <vector>

#include "smd/routing/oriented_fabric.h"

namespace smd {

struct KeptRoutes {
  ForwardingTables lft;
  std::vector<Lid> recomputed;  // LIDs with entries that changed, ascending
  LoadRecord load;              // where it is known
};

/// `request`: its `shorten_detours` and `relieve`.
/// Requires: the tables in force are up*/down* over the orientation that they carry.
/// Ensures, over the orientation of `oriented`: legal and complete for every LID in `lids`.
/// - What a lost or turned link carried goes elsewhere, and so does what that leaves without a
///   legal way or, if `shorten_detours`, on a longer one than need be; nothing else moves but for
///   `relieve`.
/// - A link that came up takes routes that it shortens, and of others its share.
/// - A LID that is new or has moved is routed as if everything were, unless the entry that a switch
///   has is one of the best already; no other LID moves for it.
/// - LIDs that nobody has keep their entries, so that who comes back finds them, unless a link
///   under them leads elsewhere.
/// The tables never get shorter. Nullopt: so much is new that keeping the rest is not worth it.
[[nodiscard]] std::optional<KeptRoutes> keep_routes(const Fabric& fabric,
                                                    const LidMap& lids,
                                                    const OrientedFabric& oriented,
                                                    const PreviousRoutes& in_force,
                                                    const RoutingRequest& request);

}  // namespace smd

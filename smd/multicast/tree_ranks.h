// Which way is up, for multicast trees: the directions that unicast routes obey, where they obey
// any, so that both together have no credit loop.
#pragma once

#include "smd/fabric/lid_map.h"
#include "smd/routing/tables.h"

namespace smd {

struct TreeRanks {
  IndexVector<SwitchIdx, std::uint32_t>
      rank;                 // up leads towards the smaller, then the smaller GUID
  bool of_unicast = false;  // unicast routes obey the same directions
  Orientation kept;         // to be given back with the next snapshot, where they are our own
};

/// Where the engine has no directions: away from the hosts if that leads to some switch above all
/// of them, as in trees; else up*/down* directions of our own, kept from `previous` as far as they
/// can.
[[nodiscard]] TreeRanks choose_ranks(const Fabric& fabric,
                                     const LidMap& lids,
                                     const RoutingTables& routing,
                                     const Orientation& previous);

}  // namespace smd

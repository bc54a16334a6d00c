// The subnet as OpenSM knows it, copied into values of ours.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "plugins/opensm/osm.h"
#include "smd/fabric/fabric.h"

namespace smd::opensm {

struct Snapshot {
  std::shared_ptr<const Fabric> fabric;
  LidMap lids;                                     // as OpenSM assigned them
  IndexVector<SwitchIdx, osm_switch_t*> switches;  // valid while OpenSM's lock is held
  std::vector<std::string> notes;                  // what was left out, and why
};

/// Nodes in ascending order of their GUIDs, whatever order OpenSM found them in. Left out are
/// unhealthy links between switches, switches without SwitchInfo, and LIDs that OpenSM has not
/// settled.
/// Requires: OpenSM's lock is held.
[[nodiscard]] Result<Snapshot> take_snapshot(const osm_opensm_t& osm, Epoch epoch);

}  // namespace smd::opensm

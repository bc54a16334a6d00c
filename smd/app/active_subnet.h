// The subnet as the manager wants it: a snapshot, and the LIDs, routes and rows that belong to it.
//
// No member can be changed, so whoever holds one may read it on any thread. A change makes a new
// value, which shares with the one before whatever is large and the same.
#pragma once

#include <memory>
#include <optional>

#include "smd/app/multicast_lane.h"
#include "smd/base/shared.h"
#include "smd/discovery/sweep_report.h"
#include "smd/fabric/lid_map.h"
#include "smd/policy/partition_map.h"
#include "smd/routing/tables.h"

namespace smd::app {

struct ActiveSubnet {
  const SweepReport sweep;
  const Shared<LidMap> lids;
  const Shared<RoutingTables> routing;

  /// SL-to-VL rows that the switches shall hold; empty: nobody needs certain ones.
  const Shared<LaneMaps> rows;

  /// Of its fabric; null where nobody configured any.
  const std::shared_ptr<const PartitionPlan> partitions{};

  const std::optional<MulticastLane>
      multicast_lane{};  // nothing: groups have the SLs that were asked for

  [[nodiscard]] const Fabric& fabric() const { return *sweep.fabric; }

  /// They came from one cycle: at most what is known of the fabric differs.
  [[nodiscard]] bool has_routes_of(const ActiveSubnet& other) const {
    return routing.is(other.routing);
  }
};

/// The manager's own port has no link: it manages itself only.
[[nodiscard]] bool is_cut_off(const Fabric& fabric);

/// The same routes on `fabric`, which has the same nodes and cables and knows more of them.
[[nodiscard]] std::shared_ptr<const ActiveSubnet> with_fabric(const ActiveSubnet& now,
                                                              std::shared_ptr<const Fabric> fabric);

}  // namespace smd::app

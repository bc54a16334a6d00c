// The subnet as the manager wants it: a snapshot, and the LIDs, routes and SL-to-VL tables that
// belong to it.
//
// No member can be changed, so whoever holds one may read it on any thread. A change makes a new
// value, which shares with the one before whatever is large and the same.
#pragma once

#include <tl/expected.hpp>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "smd/base/shared.h"
#include "smd/discovery/sweep_report.h"
#include "smd/fabric/fabric.h"
#include "smd/ib/types.h"
#include "smd/policy/partition_map.h"
#include "smd/routing/tables.h"
#include "smd/routing/verify/verified_routes.h"

namespace smd {

struct Settings;

struct MulticastVl {
  std::uint8_t sl = 0;  // of the packets of every group, and of no path
  Vl vl;                // that no other SL has on a link between switches

  friend bool operator==(const MulticastVl&, const MulticastVl&) = default;
};

/// The highest SL that neither routes nor the site give out, and a VL that links between switches
/// have and other SLs do without. Else why there is none, for people. `partitions`: in force,
/// whatever the settings say; may be null.
[[nodiscard]] tl::expected<MulticastVl, std::string> choose_multicast_vl(
    const Fabric& fabric,
    const RoutingTables& routing,
    const Settings& settings,
    const PartitionPlan* partitions);

// The subnet as the manager wants it: a snapshot, and the LIDs, routes and rows that belong to it.
//
// No member can be changed, so whoever holds one may read it on any thread. A change makes a new
// value, which shares with the one before whatever is large and the same.

struct ActiveSubnet {
  const SweepReport sweep;
  const Shared<LidMap> lids;
  const Shared<RoutingTables> routing;

  /// SL-to-VL rows that the switches shall hold; empty: nobody needs certain ones.
  const Shared<SlToVlMaps> rows;

  /// Of its fabric; null where nobody configured any.
  const std::shared_ptr<const PartitionPlan> partitions{};

  const std::optional<MulticastVl>
      multicast_vl{};  // nothing: groups have the SLs that were asked for

  /// Of its routes on its fabric, for the check of those that come next; null: that is done in
  /// full.
  const std::shared_ptr<const VerifiedRoutes> verified{};

  [[nodiscard]] const Fabric& fabric() const { return *sweep.fabric; }

  [[nodiscard]] RoutesOnFabric routes() const {
    return {.fabric = &fabric(), .lids = &*lids, .routing = &*routing};
  }

  /// They came from one cycle: at most what is known of the fabric differs.
  [[nodiscard]] bool has_routes_of(const ActiveSubnet& other) const {
    return routing.is(other.routing);
  }
};

/// Guid{}: `route` leads through an adapter, which passes nothing on, or to a LID that nobody has.
/// Nothing: through a port that had no link; there may be a new one.
[[nodiscard]] std::optional<Guid> find_port_at(const ActiveSubnet& now, const SmpRoute& route);

/// Nobody is seen but the manager: its own port has no link, or nobody answers there.
[[nodiscard]] bool is_cut_off(const Fabric& fabric);

/// The same routes on `fabric`, which has the same nodes and cables and knows more of them.
[[nodiscard]] std::shared_ptr<const ActiveSubnet> with_fabric(const ActiveSubnet& now,
                                                              std::shared_ptr<const Fabric> fabric);

/// The same, with what was found of its routes.
[[nodiscard]] std::shared_ptr<const ActiveSubnet> with_verified(
    const ActiveSubnet& now, std::shared_ptr<const VerifiedRoutes> verified);

}  // namespace smd

// A lane that multicast packets have to themselves, where they and unicast packets on one lane
// could block each other in a circle.
//
// Channels of two lanes are two channels: what waits on this one waits for multicast packets alone,
// and trees that never turn up again close no circle among themselves.
#pragma once

#include <cstdint>
#include <string>

#include <tl/expected.hpp>

#include "smd/ib/types.h"
#include "smd/routing/tables.h"

namespace smd::app {

struct Settings;

struct MulticastLane {
  std::uint8_t sl = 0;  // of the packets of every group, and of no path
  Vl vl;                // that no other SL has on a link between switches

  friend bool operator==(const MulticastLane&, const MulticastLane&) = default;
};

/// The highest SL that neither routes nor the site give out, and a VL that links between switches
/// have and other SLs do without. Else why there is none, for people.
[[nodiscard]] tl::expected<MulticastLane, std::string> choose_multicast_lane(
    const Fabric& fabric, const RoutingTables& routing, const Settings& settings);

}  // namespace smd::app

// Cut nodes: switches with two or more links up. Every cycle of links has one, where a packet that
// came down would go up again; up*/down* routes never do, and blocking those turns makes any tables
// free of deadlock.
#pragma once

#include <compare>
#include <vector>

#include "smd/routing/tables.h"

namespace smd {

/// Entering by one up port of the switch and leaving by another one.
struct ForbiddenTurn {
  SwitchIdx sw;
  PortNum in;
  PortNum out;

  friend bool operator==(const ForbiddenTurn&, const ForbiddenTurn&) = default;
  friend auto operator<=>(const ForbiddenTurn&, const ForbiddenTurn&) = default;
};

/// Ports of `sw` whose link leads to a switch further up, ascending. Loopback links lead nowhere.
/// Requires: the orientation is one of this fabric.
[[nodiscard]] std::vector<PortNum> find_up_ports(const Fabric& fabric,
                                                 const Orientation& orientation,
                                                 SwitchIdx sw);

/// Sorted: every ordered pair of different up ports of every switch. Parallel links to one switch
/// count, since down one and up the other is such a turn too.
[[nodiscard]] std::vector<ForbiddenTurn> find_forbidden_turns(const Fabric& fabric,
                                                              const Orientation& orientation);

}  // namespace smd

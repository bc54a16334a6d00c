// Which ports of the switches that were there before lead elsewhere now.
#pragma once

#include <array>
#include <bitset>
#include <vector>

#include "smd/routing/oriented_fabric.h"

namespace smd {

struct PortChanges {
  /// The switch as it was; kNone for switches that were not there.
  IndexVector<SwitchIdx, SwitchIdx> before;

  /// By port number: leads to no switch any more, to another port than before, or in the other
  /// direction. Entries over such a port have to be looked at; all others are as good as they were.
  IndexVector<SwitchIdx, std::bitset<256>> suspect;

  /// Ports of known switches that lead to a switch, and led elsewhere or nowhere. Ascending.
  struct Gained {
    SwitchIdx sw;
    PortNum port;
    SwitchIdx to;
  };

  std::vector<Gained> gained;

  /// Cables between switches or switches have come or gone. Switches that went count by their
  /// neighbours' ports.
  [[nodiscard]] bool any() const;
};

/// Ports of switches as they are now; their directions do not matter.
[[nodiscard]] PortChanges find_port_changes(const Fabric& before,
                                            const Fabric& now,
                                            const SwitchGraph& graph);

/// Directions are compared by the ranks that each side had then and has now.
[[nodiscard]] PortChanges find_port_changes(const Fabric& before,
                                            const Orientation& orientation_before,
                                            const Fabric& now,
                                            const OrientedFabric& oriented);

}  // namespace smd

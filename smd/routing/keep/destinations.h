// Whom each LID leads to, and which LIDs have to be routed afresh.
#pragma once

#include <cstdint>
#include <vector>

#include "smd/routing/engine.h"
#include "smd/routing/switch_graph.h"

namespace smd {

/// A LID that somebody has.
struct Destination {
  SwitchIdx last = kNone<SwitchIdx>;  // that serves the owner; kNone: nobody has the LID
  PortNum exit;                       // of the last switch
  Lid base;                           // of the port that owns it
  bool weighs = false;                // counts as traffic
  std::uint32_t draws = 0;            // how much, 0 where it does not count
};

/// By LID value, up to `top`.
[[nodiscard]] std::vector<Destination> list_destinations(const Targets& targets, Lid top);

/// By LID value: new, or at another switch or port than before.
[[nodiscard]] std::vector<char> find_fresh(const Fabric& fabric,
                                           const LidMap& lids,
                                           const PreviousRoutes& before,
                                           const std::vector<Destination>& destinations);

/// Neither most LIDs nor most switches are new.
[[nodiscard]] bool are_worth_keeping(const std::vector<Destination>& destinations,
                                     const std::vector<char>& fresh,
                                     const IndexVector<SwitchIdx, SwitchIdx>& row_before);

}  // namespace smd

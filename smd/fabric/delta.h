// What changed between two snapshots, by GUID, so that it outlives both.
#pragma once

#include <vector>

#include "smd/fabric/fabric.h"

namespace smd {

struct PortRef {
  Guid node;
  PortNum port;

  friend bool operator==(const PortRef&, const PortRef&) = default;
  friend auto operator<=>(const PortRef&, const PortRef&) = default;
};

/// All lists ascending. A link that moved is down at its old ports and up at its new ones.
struct Delta {
  std::vector<PortRef> ports_down;  // had a link that is gone; both ends, also those of dead nodes
  std::vector<PortRef> ports_up;    // have a link that was not there
  std::vector<Guid> nodes_gone;
  std::vector<Guid> nodes_new;
  std::vector<Guid> restarted;  // switches found with empty tables, or with other sizes than before

  [[nodiscard]] bool empty() const {
    return ports_down.empty() && ports_up.empty() && nodes_gone.empty() && nodes_new.empty() &&
           restarted.empty();
  }
};

/// Links and nodes; `restarted` compares SwitchInfo (LinearFDBTop 0, capacities) and port counts.
[[nodiscard]] Delta diff_fabrics(const Fabric& before, const Fabric& now);

// What a discovery did not see but may still carry data: switches whose agents answer no more, and
// links that were asked over in vain. Nobody can change such a switch; its tables stay as they
// were, and whoever plans a change must reckon with them.

/// Nothing when `now` has all of `before` that may carry data. Else `now`, every index as it was,
/// with those switches appended, and the links between switches that `before` had and whose ends
/// are still Active, or Armed, as far as anybody can tell. A switch that only lost switches lead to
/// counts when one of them is joined to a living one. Where `now` has no switch at all, the manager
/// is cut off and cannot tell: then all count.
[[nodiscard]] std::optional<Fabric> with_unresponsive(const Fabric& now, const Fabric& before);

/// The same with every lost switch that has a link left, joined to a living one or not: one that is
/// found again may still lead to others that are not. A link is left until a living end of it is
/// seen in another state than these. Where this is nothing, so is with_unresponsive().
[[nodiscard]] std::optional<Fabric> with_lost(const Fabric& now, const Fabric& before);

}  // namespace smd

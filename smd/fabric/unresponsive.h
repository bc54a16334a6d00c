// What a discovery did not see but may still carry data: switches whose agents answer no more, and
// links that were asked over in vain. Nobody can change such a switch; its tables stay as they
// were, and whoever plans a change must reckon with them.
#pragma once

#include "smd/fabric/fabric.h"

namespace smd {

/// Nothing when `now` has all of `before` that may carry data. Else `now`, every index as it was,
/// with those switches appended, and the links between switches that `before` had and whose ends
/// are still Active, as far as anybody can tell. A switch that only lost switches lead to counts
/// when one of them is joined to a living one. Where `now` has no switch at all, the manager is cut
/// off and cannot tell: then all count.
[[nodiscard]] std::optional<Fabric> with_unresponsive(const Fabric& now, const Fabric& before);

}  // namespace smd

// Which groups may be made, and who fits into which (IBA 15.2.5.17, o15-0.1.5 to o15-0.2.4).
#pragma once

#include <tl/expected.hpp>

#include "smd/multicast/group_request.h"
#include "smd/multicast/realm.h"

namespace smd {

/// The traits of a group that `request` creates: what it leaves open is what the port can take.
/// Requires: a port GID and a JoinState. RequestInvalid when the MGID may not be asked for, the
/// port is not of the partition, or a bound cannot be met.
[[nodiscard]] tl::expected<GroupTraits, Refusal> choose_traits(const Realm& realm,
                                                               const GroupRequest& request,
                                                               Guid port,
                                                               const Realm::Ability& ability);

/// Whether all that the request says is so of the group, and the port can take part in it.
[[nodiscard]] bool fits(const Realm& realm,
                        const Group& group,
                        const GroupRequest& request,
                        Guid port,
                        const Realm::Ability& ability);

/// Whether the MTU, the rate and the lifetime are as the request says, where it says anything.
[[nodiscard]] bool meets_bounds(const GroupTraits& traits, const GroupRequest& request);

}  // namespace smd

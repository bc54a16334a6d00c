// Who may know of whom: ports that share a partition (IBA 10.9.3; 15.4.1.1).
#pragma once

#include "smd/sa/subnet_view.h"

namespace smd::sa {

/// The port's keys; of a port that is not known (kNone), none.
[[nodiscard]] const std::vector<PKey>& keys_of(const SubnetView& view, PortIdx port);

/// The port has a key that matches one of `keys`.
[[nodiscard]] bool shares_partition(const SubnetView& view,
                                    PortIdx port,
                                    const std::vector<PKey>& keys);

/// The port is a member, of whatever kind, of the partition of `key`.
[[nodiscard]] bool is_member(const SubnetView& view, PortIdx port, PKey key);

}  // namespace smd::sa

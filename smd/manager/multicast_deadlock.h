// Whether unicast routes and multicast trees together are free of credit loops. Dear: off the loop.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "smd/multicast/tree.h"
#include "smd/subnet/active_subnet.h"

namespace smd {

struct TreesOfSl {
  std::uint8_t sl = 0;
  std::vector<SwitchMask> masks;
};

struct MulticastVerdict {
  std::optional<bool> acyclic;  // nothing: not proved, where routes change VLs on the way
  std::string cycle;            // one of them
  bool of_trees = false;        // they close one without any unicast packet
  std::string discarded;  // where rows of the routes discard packets of groups; empty: nowhere
};

/// Trees that have a VL of their own are checked on it alone: no unicast packet is there.
[[nodiscard]] MulticastVerdict check_multicast_deadlock(const ActiveSubnet& in_force,
                                                        const std::vector<TreesOfSl>& trees,
                                                        CopyModel copies = CopyModel::Asynchronous);

}  // namespace smd

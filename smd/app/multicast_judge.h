// Whether unicast routes and multicast trees together are free of credit loops. Dear: off the loop.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "smd/app/active_subnet.h"
#include "smd/multicast/tree.h"

namespace smd::app {

struct TreesOfSl {
  std::uint8_t sl = 0;
  std::vector<SwitchMask> masks;
};

struct MulticastVerdict {
  std::optional<bool> acyclic;  // nothing: not proved, where routes change lanes on the way
  std::string cycle;            // one of them
};

/// Trees that have a lane of their own are judged on it alone: no unicast packet is there.
[[nodiscard]] MulticastVerdict judge_multicast(const ActiveSubnet& in_force,
                                               const std::vector<TreesOfSl>& trees);

}  // namespace smd::app

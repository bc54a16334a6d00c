// How long to wait for an answer (IBA 13.4.6.2). The time fields of PortInfo are exponents:
// 4.096 us * 2^n.
#pragma once

#include <cstdint>

#include "smd/runtime/runtime.h"

namespace smd {

/// 4.096 us * 2^code, for SubnetTimeout, RespTimeValue and the other fields coded like them. Only
/// the low five bits count.
[[nodiscard]] constexpr Duration subnet_timeout(std::uint8_t code) {
  return Duration{std::int64_t{4096} << (code & 0x1fu)};
}

/// The longest that an answer may take: 2 * SubnetTimeout + RespTimeValue.
[[nodiscard]] constexpr Duration response_timeout(std::uint8_t subnet_timeout_code,
                                                  std::uint8_t resp_time_code) {
  return 2 * subnet_timeout(subnet_timeout_code) + subnet_timeout(resp_time_code);
}

/// What SubnetTimeout depends on.
struct SubnetExtent {
  unsigned max_distance = 1;  // hops from the subnet manager to the farthest node
  Duration link_delay{0};     // of one SMP over one link, store and forward included
  Duration max_resp_time{0};  // the largest RespTimeValue of all ports
};

/// The smallest SubnetTimeout code that covers max_distance * (link_delay + max_resp_time); 31
/// when none does.
[[nodiscard]] constexpr std::uint8_t compute_subnet_timeout_code(const SubnetExtent& extent) {
  const Duration wanted = extent.max_distance * (extent.link_delay + extent.max_resp_time);
  std::uint8_t code = 0;
  while (code < 31 && subnet_timeout(code) < wanted) ++code;
  return code;
}

}  // namespace smd

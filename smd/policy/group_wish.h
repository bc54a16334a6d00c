// A multicast group that the site wants to exist before anybody joins it: the partition file's
// `ipoib` flag and its `mgid=` lines. Whoever keeps the groups makes them.
#pragma once

#include <cstdint>
#include <string>

#include "smd/ib/types.h"

namespace smd {

struct GroupWish {
  Gid mgid;    // its first and its last 64 bits; scope and P_Key are put in already
  PKey p_key;  // of full members, as in the group's record
  std::uint32_t q_key = 0;
  std::uint8_t mtu = 4;  // codes of IBA 15.2.5.17: exactly this
  std::uint8_t rate = 3;
  std::uint8_t sl = 0;
  std::uint8_t scope = 2;  // 2: of this subnet, with HopLimit 0; wider ones have 255
  std::uint8_t tclass = 0;
  std::uint32_t flow_label = 0;  // 20 bits
  std::string partition;         // its name, for people

  friend bool operator==(const GroupWish&, const GroupWish&) = default;
};

}  // namespace smd

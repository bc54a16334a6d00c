// A multicast group as the administration keeps it (IBA 15.2.5.17).
#pragma once

#include <cstdint>
#include <map>

#include "smd/ib/types.h"

namespace smd {

/// Bits of MCMemberRecord.JoinState; one member may have several.
namespace join_state {
inline constexpr std::uint8_t kFull = 1;
inline constexpr std::uint8_t kNonMember = 2;
inline constexpr std::uint8_t kSendOnly = 4;
inline constexpr std::uint8_t kSendOnlyFull = 8;
inline constexpr std::uint8_t kAll = 15;

/// A group lives as long as one such member does; only they create one.
[[nodiscard]] constexpr bool keeps_group(std::uint8_t state) {
  return (state & (kFull | kSendOnlyFull)) != 0;
}

[[nodiscard]] constexpr bool receives(std::uint8_t state) {
  return (state & (kFull | kNonMember)) != 0;
}
}  // namespace join_state

/// What all members have in common. Codes as in the record.
struct GroupTraits {
  std::uint32_t q_key = 0;
  PKey p_key;
  std::uint8_t mtu = 0;
  std::uint8_t rate = 0;
  std::uint8_t life_time = 0;
  std::uint8_t sl = 0;
  std::uint8_t tclass = 0;
  std::uint8_t hop_limit = 0;
  std::uint8_t scope = 0;
  std::uint32_t flow_label = 0;

  friend bool operator==(const GroupTraits&, const GroupTraits&) = default;
};

struct Member {
  std::uint8_t join_state = 0;
  bool proxy_join = false;  // somebody else joined for it
  Guid joined_by{};         // whose limit it counts against; 0: its own

  friend bool operator==(const Member&, const Member&) = default;
};

struct Group {
  Gid mgid;
  Lid mlid;
  GroupTraits traits;
  Guid creator{};                  // whose limit it counts against; 0: nobody's
  bool permanent = false;          // the site wants it, with or without members
  std::map<Guid, Member> members;  // by port GUID

  friend bool operator==(const Group&, const Group&) = default;
};

}  // namespace smd

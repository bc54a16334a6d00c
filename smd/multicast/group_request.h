// What a client asks of a group, and what it gets.
#pragma once

#include <cstdint>
#include <optional>

#include "smd/ib/bound.h"
#include "smd/multicast/group.h"

namespace smd {

/// Components that the request does not give are empty.
struct GroupRequest {
  std::optional<Gid> mgid;  // absent or zero: the administration makes one up
  std::optional<Gid> port_gid;
  std::optional<std::uint32_t> q_key;
  std::optional<Lid> mlid;
  std::optional<Bound> mtu;
  std::optional<std::uint8_t> tclass;
  std::optional<PKey> p_key;
  std::optional<Bound> rate;
  std::optional<Bound> life_time;
  std::optional<std::uint8_t> sl;
  std::optional<std::uint32_t> flow_label;
  std::optional<std::uint8_t> hop_limit;
  std::optional<std::uint8_t> scope;  // of an MGID to be made up; a given one has its own
  std::optional<std::uint8_t> join_state;
};

/// Why not (IBA 15.2.1.1, table 185).
enum class Refusal : std::uint8_t {
  InsufficientComponents,
  RequestInvalid,
  InvalidGid,
  NoResources,
};

/// One port's part in a group.
struct GroupMembership {
  Gid mgid;
  Lid mlid;
  GroupTraits traits;
  Guid port;
  Member member;

  friend bool operator==(const GroupMembership&, const GroupMembership&) = default;
};

}  // namespace smd

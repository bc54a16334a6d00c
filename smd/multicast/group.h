// Multicast groups: their MGIDs and MLIDs, what is asked of them, which may be made and who fits
// in.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <tl/expected.hpp>
#include <utility>
#include <vector>

#include "smd/ib/rates.h"
#include "smd/ib/types.h"
#include "smd/multicast/subnet_limits.h"

namespace smd {

// Multicast GIDs: 0xff, flags, scope, signature, the rest (IBA 4.1.1). A Gid holds one as its first
// and its last 64 bits.

inline constexpr std::uint8_t kLinkLocalScope = 2;
inline constexpr std::uint8_t kRoutedHopLimit = 255;  // of groups of any wider scope

/// Signatures: IPoIB's (RFC 4391), and that of MGIDs which the administration makes up.
inline constexpr std::uint16_t kIpv4Signature = 0x401b;
inline constexpr std::uint16_t kIpv6Signature = 0x601b;
inline constexpr std::uint16_t kAssignedSignature = 0xa01b;

[[nodiscard]] constexpr bool is_multicast(const Gid& gid) { return gid.prefix >> 56 == 0xff; }

[[nodiscard]] constexpr std::uint8_t mgid_flags(const Gid& mgid) {
  return static_cast<std::uint8_t>(mgid.prefix >> 52 & 15);
}

[[nodiscard]] constexpr std::uint8_t mgid_scope(const Gid& mgid) {
  return static_cast<std::uint8_t>(mgid.prefix >> 48 & 15);
}

[[nodiscard]] constexpr std::uint16_t mgid_signature(const Gid& mgid) {
  return static_cast<std::uint16_t>(mgid.prefix >> 32);
}

/// By its signature.
[[nodiscard]] constexpr bool is_of_ipoib(const Gid& mgid) {
  return mgid_signature(mgid) == kIpv4Signature || mgid_signature(mgid) == kIpv6Signature;
}

/// Whether a client may ask for it: without reserved flags, and none that only the administration
/// may make up (IBA o15-0.1.6). Of IPoIB's the flags are not looked at. Scopes that IBA reserves
/// may be asked for, as hosts on OpenSM do.
[[nodiscard]] bool may_be_asked_for(const Gid& mgid);

/// The `id`-th that the administration makes up: its signature, the subnet's prefix, the id.
[[nodiscard]] Gid assigned_mgid(std::uint8_t scope, std::uint64_t subnet_prefix, std::uint32_t id);

/// What every IPoIB interface of a partition joins first: ff12:401b:<P_Key>::ffff:ffff.
[[nodiscard]] Gid ipoib_broadcast(PKey p_key, std::uint8_t scope = kLinkLocalScope);

/// "ff12:401b:ffff:0000:0000:0000:ffff:ffff".
[[nodiscard]] std::string print_gid(const Gid& gid);

// A multicast group as the administration keeps it (IBA 15.2.5.17).

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
  Guid port{};              // whose further GUID it is a member under; 0: the GUID is a port's own

  friend bool operator==(const Member&, const Member&) = default;
};

struct Group {
  Gid mgid;
  Lid mlid;
  GroupTraits traits;
  Guid creator{};                  // whose limit it counts against; 0: nobody's
  bool permanent = false;          // the site wants it, with or without members
  std::map<Guid, Member> members;  // by GUID: each that a port has joins and leaves by itself

  friend bool operator==(const Group&, const Group&) = default;
};

/// The port that has the member's GUID, and stands in the tree while any of its GUIDs is a member.
[[nodiscard]] inline Guid port_of(const std::pair<const Guid, Member>& member) {
  return member.second.port != Guid{} ? member.second.port : member.first;
}

/// The only port of which no GUID receives: a program that joined to send alone, so that others may
/// be taken to have joined to receive alone. 0: there is none, or there are several; of the site's
/// own groups and of IPoIB's there never is one, since there whoever joined to receive sends as
/// well.
[[nodiscard]] Guid find_only_sender(const Group& group);

// What a client asks of a group, and what it gets.

/// Components that the request does not give are empty.
struct GroupRequest {
  std::optional<Gid> mgid;           // absent or zero: the administration makes one up
  std::optional<Gid> port_gid;       // of the port itself
  std::optional<Guid> further_guid;  // of the port, under which it asks; nothing: its own
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

/// The part of a port's GUID in a group.
struct GroupMembership {
  Gid mgid;
  Lid mlid;
  GroupTraits traits;
  Guid port;  // as it was named: its own GUID, or a further one
  Member member;

  friend bool operator==(const GroupMembership&, const GroupMembership&) = default;
};

// Which groups may be made, and who fits into which (IBA 15.2.5.17, o15-0.1.5 to o15-0.2.4).

/// The traits of a group that `request` creates: what it leaves open is what the port can take.
/// Requires: a port GID and a JoinState. RequestInvalid when the MGID may not be asked for, the
/// port is not of the partition, or a bound cannot be met.
[[nodiscard]] tl::expected<GroupTraits, Refusal> choose_traits(
    const SubnetLimits& subnet,
    const GroupRequest& request,
    Guid port,
    const SubnetLimits::Ability& ability);

/// Whether all that the request says is so of the group, and the port can take part in it.
[[nodiscard]] bool fits(const SubnetLimits& subnet,
                        const Group& group,
                        const GroupRequest& request,
                        Guid port,
                        const SubnetLimits::Ability& ability);

/// Whether the MTU, the rate and the lifetime are as the request says, where it says anything.
[[nodiscard]] bool meets_bounds(const GroupTraits& traits, const GroupRequest& request);

// Which groups have which MLID. A group gets one of its own, the lowest that is free; when switches
// have room for no more, it shares one.

class MlidPool {
 public:
  /// MLIDs that may be given, from the first. What has been given beyond stays as it is.
  void set_capacity(std::uint32_t mlids) { capacity_ = mlids; }

  /// Gives `group` an MLID; kUnassignedLid when there are none at all. Shared is, in this order:
  /// not that of a group which the site wants; of a group with the same partition, MTU, rate and
  /// SL; of few groups; the lowest.
  Lid add(const Group& group, const std::map<Gid, Group>& groups);

  /// The group has `mlid` already. Requires: a multicast LID.
  void add(const Gid& mgid, Lid mlid);

  void remove(const Gid& mgid, Lid mlid);

  /// Ascending; empty where nobody has the MLID.
  [[nodiscard]] std::vector<Gid> groups_of(Lid mlid) const;

  /// In use.
  [[nodiscard]] std::size_t size() const { return groups_.size(); }

  [[nodiscard]] std::vector<Lid> mlids() const;

 private:
  std::uint32_t capacity_ = 0;
  [[nodiscard]] Lid choose_shared(const Group& group, const std::map<Gid, Group>& groups) const;
  void count(Lid mlid, std::size_t before, std::size_t now);

  std::map<Lid, std::set<Gid>> groups_;
  std::set<std::pair<std::size_t, Lid>> by_size_;  // those in use, by how many share them
  std::set<Lid> freed_;                            // below the end, unused
  std::uint32_t end_ = 0;  // all from here on are unused: as many from the first one
};

}  // namespace smd

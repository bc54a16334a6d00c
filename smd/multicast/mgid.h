// Multicast GIDs: 0xff, flags, scope, signature, the rest (IBA 4.1.1). A Gid holds one as its first
// and its last 64 bits.
#pragma once

#include <cstdint>
#include <string>

#include "smd/ib/types.h"

namespace smd {

inline constexpr std::uint8_t kLinkLocalScope = 2;

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

}  // namespace smd

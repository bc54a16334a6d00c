// The words of the InfiniBand specification as types. Ranges are validated once, at the decode
// boundary.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "smd/base/strong_id.h"

namespace smd {

using Lid = StrongId<struct LidTag, std::uint16_t>;
using PortNum = StrongId<struct PortNumTag, std::uint8_t>;
using Vl = StrongId<struct VlTag, std::uint8_t>;
using Sl = StrongId<struct SlTag, std::uint8_t>;
using PKey = StrongId<struct PKeyTag, std::uint16_t>;
using MKey = StrongId<struct MKeyTag, std::uint64_t>;
using SmKey = StrongId<struct SmKeyTag, std::uint64_t>;

/// EUI-64 of a node, port or system. Prints as 0x%016x.
using Guid = StrongId<struct GuidTag, std::uint64_t>;

/// Subnet prefix and port GUID.
struct Gid {
  std::uint64_t prefix = 0;
  Guid guid;

  friend constexpr auto operator<=>(const Gid&, const Gid&) = default;
};

enum class NodeType : std::uint8_t { Ca = 1, Switch = 2, Router = 3 };

/// IBA 14.2.5.6. NoChange exists only in a Set.
enum class PortState : std::uint8_t {
  NoChange = 0,
  Down = 1,
  Initialize = 2,
  Armed = 3,
  Active = 4,
  ActiveDefer = 5
};

enum class PhysState : std::uint8_t {
  NoChange = 0,
  Sleep = 1,
  Polling = 2,
  Disabled = 3,
  Training = 4,
  LinkUp = 5,
  ErrorRecovery = 6,
  PhyTest = 7,
};

/// IBA encoding: 1 … 5 for 256 … 4096 bytes.
enum class Mtu : std::uint8_t { None = 0, B256 = 1, B512 = 2, B1024 = 3, B2048 = 4, B4096 = 5 };

/// Lanes of an active link, in the bit encoding of PortInfo.LinkWidthActive.
enum class LinkWidth : std::uint8_t { None = 0, X1 = 1, X4 = 2, X8 = 4, X12 = 8, X2 = 16 };

/// One lane's signalling rate, whatever PortInfo field it is read from.
enum class LinkSpeed : std::uint8_t { None, Sdr, Ddr, Qdr, Fdr10, Fdr, Edr, Hdr, Ndr, Xdr };

/// Bytes of payload for an MTU code; 0 for codes that mean nothing.
[[nodiscard]] constexpr unsigned mtu_bytes(Mtu mtu) {
  const auto code = static_cast<unsigned>(mtu);
  return code >= 1 && code <= 5 ? 128u << code : 0;
}

[[nodiscard]] constexpr unsigned lanes(LinkWidth width) {
  switch (width) {
    case LinkWidth::X1:
      return 1;
    case LinkWidth::X2:
      return 2;
    case LinkWidth::X4:
      return 4;
    case LinkWidth::X8:
      return 8;
    case LinkWidth::X12:
      return 12;
    case LinkWidth::None:
      break;
  }
  return 0;
}

/// Data rate of one lane in Mbit/s, after line coding (SDR 2000, EDR 25000, NDR 100000 …).
[[nodiscard]] constexpr unsigned lane_mbps(LinkSpeed speed) {
  switch (speed) {
    case LinkSpeed::Sdr:
      return 2000;
    case LinkSpeed::Ddr:
      return 4000;
    case LinkSpeed::Qdr:
      return 8000;
    case LinkSpeed::Fdr10:
      return 10000;
    case LinkSpeed::Fdr:
      return 13636;
    case LinkSpeed::Edr:
      return 25000;
    case LinkSpeed::Hdr:
      return 50000;
    case LinkSpeed::Ndr:
      return 100000;
    case LinkSpeed::Xdr:
      return 200000;
    case LinkSpeed::None:
      break;
  }
  return 0;
}

/// Unicast LIDs are 1 … 0xBFFF, multicast 0xC000 … 0xFFFE; 0xFFFF is permissive.
inline constexpr Lid kUnassignedLid{0};
inline constexpr Lid kTopUnicastLid{0xBFFF};
inline constexpr Lid kPermissiveLid{0xFFFF};

[[nodiscard]] constexpr bool is_unicast(Lid lid) {
  return lid != kUnassignedLid && lid <= kTopUnicastLid;
}

/// LFT entry of a destination that has no route.
inline constexpr PortNum kNoRoute{255};

/// VL15 carries SMPs; in an SL-to-VL table it means "discard".
inline constexpr Vl kManagementVl{15};

inline constexpr std::uint64_t kDefaultSubnetPrefix = 0xfe80000000000000u;
inline constexpr unsigned kSls = 16;
inline constexpr PKey kDefaultPKey{0xffff};

/// A P_Key is a partition's number and, in bit 15, whether its port is a full member (IBA 10.9.1).
inline constexpr std::uint16_t kPartitionBits = 0x7fff;
inline constexpr std::uint16_t kFullMembership = 0x8000;

[[nodiscard]] constexpr std::uint16_t partition_of(PKey key) {
  return key.value() & kPartitionBits;
}

[[nodiscard]] constexpr bool same_partition(PKey a, PKey b) {
  return partition_of(a) == partition_of(b);
}

[[nodiscard]] constexpr bool is_full_member(PKey key) {
  return (key.value() & kFullMembership) != 0;
}

[[nodiscard]] constexpr PKey full_member_of(std::uint16_t partition) {
  return PKey{static_cast<std::uint16_t>(partition | kFullMembership)};
}

/// Lower-case names as people write them: "4x", "HDR", "Active", "switch".
[[nodiscard]] std::string_view print_node_type(NodeType type);
[[nodiscard]] std::string_view print_port_state(PortState state);
[[nodiscard]] std::string_view print_phys_state(PhysState state);
[[nodiscard]] std::string_view print_link_width(LinkWidth width);
[[nodiscard]] std::string_view print_link_speed(LinkSpeed speed);

/// Inverse of the two above ("4x", "hdr" in any case); None when the text is no such thing.
[[nodiscard]] LinkWidth parse_link_width(std::string_view text);
[[nodiscard]] LinkSpeed parse_link_speed(std::string_view text);

}  // namespace smd

template <>
struct fmt::formatter<smd::Guid> : fmt::formatter<fmt::string_view> {
  auto format(smd::Guid guid, fmt::format_context& ctx) const {
    return smd::append_hex64(ctx.out(), guid.value());
  }
};

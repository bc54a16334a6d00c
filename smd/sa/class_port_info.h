// ClassPortInfo (IBA 13.4.8.1): what this service can do and how long its answers take. Redirection
// and traps are not used: their fields are zero.
#pragma once

#include <cstdint>
#include <span>

#include "smd/sa/sa_mad.h"

namespace smd::sa {

struct ClassPortInfo {
  std::uint8_t base_version = 1;
  std::uint8_t class_version = kClassVersion;
  std::uint16_t capability_mask = 0;
  std::uint32_t capability_mask2 = 0;  // 27 bits
  std::uint8_t resp_time_value = 0;    // 5 bits; 4.096 us * 2^n

  friend bool operator==(const ClassPortInfo&, const ClassPortInfo&) = default;
};

/// CapabilityMask bits of class 0x03 (IBA 15.2.5.1).
namespace sa_cap {
inline constexpr std::uint16_t kIsUdMulticastSupported = 1u << 9;
inline constexpr std::uint16_t kIsMultiPathSupported = 1u << 10;
inline constexpr std::uint16_t kIsPortInfoCapMaskMatchSupported = 1u << 13;
}  // namespace sa_cap

/// Of CapabilityMask2.
namespace sa_cap2 {
inline constexpr std::uint32_t kIsQosSupported = 1u << 1;
inline constexpr std::uint32_t kIsMulticastFdbTopSupported = 1u << 3;
inline constexpr std::uint32_t kIsAliasGuidsSupported = 1u << 5;
inline constexpr std::uint32_t kIsFullPortInfoRecordSupported = 1u << 6;
inline constexpr std::uint32_t kIsExtendedSpeedsSupported = 1u << 7;
inline constexpr std::uint32_t kIsPortInfoCapMask2MatchSupported = 1u << 10;
inline constexpr std::uint32_t kIsSendOnlyFullMemberSupported = 1u << 12;
inline constexpr std::uint32_t kIsLinkWidth2xSupported = 1u << 13;
inline constexpr std::uint32_t kIsLinkSpeedHdrSupported = 1u << 15;
}  // namespace sa_cap2

inline constexpr std::size_t kClassPortInfoSize = 72;

Result<ClassPortInfo> decode_class_port_info(std::span<const std::byte> data);

/// Requires: data.size() >= 72.
void encode_record(const ClassPortInfo& info, std::span<std::byte> data);

}  // namespace smd::sa

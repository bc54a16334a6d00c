// Subnet management packets, LID-routed (class 0x01) and directed (class 0x81), IBA 14.2.1.
//
// Directed: InitialPath[1..HopCount] are exit ports counted from the first switch or the sender;
// InitialPath[0] is unused. A mixed route has a LID-routed initial part to a known switch, then
// HopCount directed hops: DrSLID is the sender's LID, DrDLID stays permissive.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>

#include "smd/ib/types.h"
#include "smd/mad/header.h"

namespace smd {

inline constexpr std::size_t kSmpDataSize = 64;
inline constexpr std::size_t kMaxHops = 63;
using SmpData = std::array<std::byte, kSmpDataSize>;
using HopArray = std::array<std::uint8_t, 64>;  // index 0 unused

struct Smp {
  bool directed = false;
  Method method = Method::Get;
  bool returning = false;        // D bit; directed only
  std::uint16_t status = 0;      // 15 bits when directed
  std::uint8_t hop_pointer = 0;  // directed only, as the next two and the paths
  std::uint8_t hop_count = 0;
  std::uint64_t transaction_id = 0;
  std::uint16_t attribute_id = 0;
  std::uint32_t attribute_modifier = 0;
  MKey m_key;
  Lid dr_slid = kPermissiveLid;
  Lid dr_dlid = kPermissiveLid;
  SmpData data{};
  HopArray initial_path{};
  HopArray return_path{};

  friend bool operator==(const Smp&, const Smp&) = default;
};

/// Malformed unless 256 bytes of class 0x01 or 0x81, base and class version 1, hop count at
/// most 63.
Result<Smp> decode_smp(std::span<const std::byte> mad);

/// Fills all 256 bytes; reserved ones are zero.
void encode_smp(const Smp& smp, std::span<std::byte, kMadSize> mad);

/// One line: method, attribute, modifier, route, status.
[[nodiscard]] std::string print_smp(const Smp& smp);

}  // namespace smd

// Attributes of one vendor (Mellanox, NVIDIA) beside those of IBA: what a device can do, what
// another manager may have left switched on, and FDR10. Layouts: NVIDIA's iba/ib_types.h, which is
// public under GPLv2 or the OpenIB BSD licence. None has been tried on hardware.
#pragma once

#include <array>
#include <string>

#include "smd/mad/smp.h"

namespace smd {

/// VendorID of NodeInfo.
inline constexpr std::uint32_t kMellanox = 0x0002c9;

// GeneralInfo, 0xff17: with attribute modifier 4, the attributes that a device has.

inline constexpr std::uint32_t kCapabilityMaskModifier = 4;

struct GeneralInfo {
  std::array<std::uint32_t, 4> capability_mask{};  // bit n is bit n % 32 of word n / 32

  [[nodiscard]] bool has(unsigned bit) const {
    return ((capability_mask[bit / 32] >> bit % 32) & 1u) != 0;
  }

  friend bool operator==(const GeneralInfo&, const GeneralInfo&) = default;
};

namespace general_cap {
inline constexpr unsigned kPrivateLft = 0;
inline constexpr unsigned kAdaptiveRouting = 1;
}  // namespace general_cap

Result<GeneralInfo> decode_general_info(std::span<const std::byte> data);
void encode_general_info(const GeneralInfo& info, std::span<std::byte, kSmpDataSize> data);
[[nodiscard]] std::string print_general_info(const GeneralInfo& info);

// AdaptiveRoutingInfo, 0xff20: of a switch. The fields that say what is switched on; all others are
// kept as they are.

struct AdaptiveRoutingInfo {
  bool enabled = false;                      // packets may leave by another port than the LFT's
  bool fast_recovery = false;                // the switch reroutes by itself when a link is down
  bool fast_recovery_notifications = false;  // and lets its neighbours do so (pFRN)
  bool hash_based_forwarding = false;        // by SL
  bool weighted_hash_based_forwarding = false;
  SmpData rest{};  // what was read, with those bits 0

  [[nodiscard]] bool any() const {
    return enabled || fast_recovery || fast_recovery_notifications || hash_based_forwarding ||
           weighted_hash_based_forwarding;
  }

  friend bool operator==(const AdaptiveRoutingInfo&, const AdaptiveRoutingInfo&) = default;
};

Result<AdaptiveRoutingInfo> decode_adaptive_routing_info(std::span<const std::byte> data);
void encode_adaptive_routing_info(const AdaptiveRoutingInfo& info,
                                  std::span<std::byte, kSmpDataSize> data);

/// "adaptive routing, hash-based forwarding": what is switched on; "nothing".
[[nodiscard]] std::string print_adaptive_routing_info(const AdaptiveRoutingInfo& info);

// PrivateLFTInfo, 0xff10: of a switch that can have a forwarding table of its own for a port and
// SL.

struct PrivateLftInfo {
  std::uint8_t active_mode = 0;  // 0: one table for all
  SmpData rest{};                // what was read, with that byte 0

  friend bool operator==(const PrivateLftInfo&, const PrivateLftInfo&) = default;
};

Result<PrivateLftInfo> decode_private_lft_info(std::span<const std::byte> data);
void encode_private_lft_info(const PrivateLftInfo& info, std::span<std::byte, kSmpDataSize> data);
[[nodiscard]] std::string print_private_lft_info(const PrivateLftInfo& info);

// ExtendedPortInfo, 0xff90: tells FDR10 from QDR. Read where offered, never written.

struct ExtendedPortInfo {
  std::uint8_t state_change_enable = 0;
  std::uint8_t link_speed_supported = 0;  // bit 0: FDR10
  std::uint8_t link_speed_enabled = 0;
  std::uint8_t link_speed_active = 0;

  friend bool operator==(const ExtendedPortInfo&, const ExtendedPortInfo&) = default;
};

Result<ExtendedPortInfo> decode_extended_port_info(std::span<const std::byte> data);
void encode_extended_port_info(const ExtendedPortInfo& info,
                               std::span<std::byte, kSmpDataSize> data);
[[nodiscard]] std::string print_extended_port_info(const ExtendedPortInfo& info);

}  // namespace smd

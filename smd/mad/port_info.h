// PortInfo.
#pragma once

#include "smd/mad/smp.h"

namespace smd {

// PortInfo (IBA 14.2.5.6), with the extended link speeds and CapabilityMask2 of releases 1.3 and
// later. Raw codes stay raw so that encode(decode(x)) == x; `active_width`, `active_speed`
// interpret them.

/// CapabilityMask bits that this program reads or sets.
namespace port_cap {
inline constexpr std::uint32_t kIsSm = 1u << 1;
inline constexpr std::uint32_t kIsNoticeSupported = 1u << 2;
inline constexpr std::uint32_t kIsTrapSupported = 1u << 3;
inline constexpr std::uint32_t kIsOptionalIpdSupported = 1u << 4;
inline constexpr std::uint32_t kIsAutomaticMigrationSupported = 1u << 5;
inline constexpr std::uint32_t kIsSlMappingSupported = 1u << 6;
inline constexpr std::uint32_t kIsMKeyNvram = 1u << 7;
inline constexpr std::uint32_t kIsPKeyNvram = 1u << 8;
inline constexpr std::uint32_t kIsLedInfoSupported = 1u << 9;
inline constexpr std::uint32_t kIsSmDisabled = 1u << 10;
inline constexpr std::uint32_t kIsSystemImageGuidSupported = 1u << 11;
inline constexpr std::uint32_t kIsExtendedSpeedsSupported = 1u << 14;
inline constexpr std::uint32_t kIsCapabilityMask2Supported = 1u << 15;
inline constexpr std::uint32_t kIsCommunicationManagementSupported = 1u << 16;
inline constexpr std::uint32_t kIsReinitSupported = 1u << 18;
inline constexpr std::uint32_t kIsDeviceManagementSupported = 1u << 19;
inline constexpr std::uint32_t kIsVendorClassSupported = 1u << 20;
inline constexpr std::uint32_t kIsCapabilityMaskNoticeSupported = 1u << 22;
inline constexpr std::uint32_t kIsLinkRoundTripLatencySupported = 1u << 24;
inline constexpr std::uint32_t kIsClientReregistrationSupported = 1u << 25;
inline constexpr std::uint32_t kIsOtherLocalChangesNoticeSupported = 1u << 26;
inline constexpr std::uint32_t kIsMulticastPKeyTrapSuppressionSupported = 1u << 29;
inline constexpr std::uint32_t kIsMulticastFdbTopSupported = 1u << 30;
}  // namespace port_cap

/// CapabilityMask2 bits that this program reads or sets.
namespace port_cap2 {
inline constexpr std::uint16_t kIsSetNodeDescriptionSupported = 1u << 0;
inline constexpr std::uint16_t kIsPortInfoExtendedSupported = 1u << 1;
inline constexpr std::uint16_t kIsVirtualizationSupported = 1u << 2;
inline constexpr std::uint16_t kIsSwitchPortStateTableSupported = 1u << 3;
inline constexpr std::uint16_t kIsLinkWidth2xSupported = 1u << 4;
inline constexpr std::uint16_t kIsLinkSpeedHdrSupported = 1u << 5;
inline constexpr std::uint16_t kIsMKeyProtectBitsExtSupported = 1u << 6;
inline constexpr std::uint16_t kIsEnhancedTrap128Supported = 1u << 7;
inline constexpr std::uint16_t kIsPartitionTopSupported = 1u << 8;
inline constexpr std::uint16_t kIsEnhancedQosArbiterSupported = 1u << 9;
inline constexpr std::uint16_t kIsLinkSpeedNdrSupported = 1u << 10;
inline constexpr std::uint16_t kIsExtendedSpeeds2Supported = 1u << 11;
inline constexpr std::uint16_t kIsLinkSpeedXdrSupported = 1u << 12;
}  // namespace port_cap2

struct PortInfo {
  MKey m_key;
  std::uint64_t gid_prefix = 0;
  Lid lid;
  Lid master_sm_lid;
  std::uint32_t capability_mask = 0;
  std::uint16_t diag_code = 0;
  std::uint16_t m_key_lease_period = 0;  // seconds; 0 never expires
  PortNum local_port;                    // the port that the request arrived at
  std::uint8_t link_width_enabled = 0;   // in a Set: 0 no change, 255 all supported
  std::uint8_t link_width_supported = 0;
  std::uint8_t link_width_active = 0;
  std::uint8_t link_speed_supported = 0;  // 4 bits
  std::uint8_t port_state = 0;            // 4 bits; see PortState
  std::uint8_t port_physical_state = 0;   // 4 bits; see PhysState
  std::uint8_t link_down_default_state = 0;
  std::uint8_t m_key_protect_bits = 0;  // 2 bits
  std::uint8_t lmc = 0;                 // 3 bits
  std::uint8_t link_speed_active = 0;   // 4 bits
  std::uint8_t link_speed_enabled = 0;  // 4 bits; in a Set: 0 no change, 15 all supported
  std::uint8_t neighbor_mtu = 0;        // 4 bits; see Mtu
  std::uint8_t master_sm_sl = 0;        // 4 bits
  std::uint8_t vl_cap = 0;              // 4 bits: 1 VL0, 2 VL0-1, 3 VL0-3, 4 VL0-7, 5 VL0-14
  std::uint8_t init_type = 0;           // 4 bits
  std::uint8_t vl_high_limit = 0;
  std::uint8_t vl_arb_high_cap = 0;
  std::uint8_t vl_arb_low_cap = 0;
  std::uint8_t init_type_reply = 0;  // 4 bits
  std::uint8_t mtu_cap = 0;          // 4 bits
  std::uint8_t vl_stall_count = 0;   // 3 bits
  std::uint8_t hoq_life = 0;         // 5 bits; 4.096 us * 2^n, above 19 unlimited
  std::uint8_t operational_vls = 0;  // 4 bits, coded as vl_cap; in a Set: 0 no change
  bool partition_enforcement_inbound = false;
  bool partition_enforcement_outbound = false;
  bool filter_raw_inbound = false;
  bool filter_raw_outbound = false;
  std::uint16_t m_key_violations = 0;
  std::uint16_t p_key_violations = 0;
  std::uint16_t q_key_violations = 0;
  std::uint8_t guid_cap = 0;
  bool client_reregister = false;
  std::uint8_t multicast_pkey_trap_suppression = 0;  // 2 bits
  std::uint8_t subnet_timeout = 0;                   // 5 bits; 4.096 us * 2^n
  std::uint8_t resp_time_value = 0;                  // 5 bits; 4.096 us * 2^n
  std::uint8_t local_phy_errors = 0;                 // 4 bits
  std::uint8_t overrun_errors = 0;                   // 4 bits
  std::uint16_t max_credit_hint = 0;
  std::uint32_t link_round_trip_latency = 0;  // 24 bits
  std::uint16_t capability_mask2 = 0;
  std::uint8_t link_speed_ext_active = 0;     // 4 bits: 1 FDR, 2 EDR, 4 HDR, 8 NDR
  std::uint8_t link_speed_ext_supported = 0;  // 4 bits
  std::uint8_t link_speed_ext_enabled = 0;    // 5 bits; 30: extended speeds disabled
  // Byte 56, where CapabilityMask2 announces kIsExtendedSpeeds2Supported.
  std::uint8_t link_speed_ext2_active = 0;     // 2 bits: 1 XDR
  std::uint8_t link_speed_ext2_supported = 0;  // 2 bits
  std::uint8_t link_speed_ext2_enabled = 0;    // 3 bits

  [[nodiscard]] PortState state() const { return static_cast<PortState>(port_state); }

  friend bool operator==(const PortInfo&, const PortInfo&) = default;
};

Result<PortInfo> decode_port_info(std::span<const std::byte> data);
void encode_port_info(const PortInfo& info, std::span<std::byte, kSmpDataSize> data);
[[nodiscard]] std::string print_port_info(const PortInfo& info);

/// Whether the switch whose port 0 this is has a SwitchPortStateTable.
[[nodiscard]] bool has_port_state_table(const PortInfo& port0);

/// What the link runs at; None where the code means nothing. FDR10 needs ExtendedPortInfo and is
/// not visible here. The fastest field that is not zero decides: capability masks are not asked,
/// since those of a switch stand in the PortInfo of its port 0 alone.
[[nodiscard]] LinkWidth active_width(const PortInfo& info);
[[nodiscard]] LinkSpeed active_speed(const PortInfo& info);

/// The bit of one speed in each of the three groups of speed fields; FDR10 shows as QDR.
struct SpeedCodes {
  std::uint8_t base = 0;
  std::uint8_t ext = 0;
  std::uint8_t ext2 = 0;

  friend bool operator==(const SpeedCodes&, const SpeedCodes&) = default;
};

[[nodiscard]] SpeedCodes speed_codes(LinkSpeed speed);

/// Ensures: active_speed(info) == speed, except that FDR10 reads as QDR.
void set_active_speed(PortInfo& info, LinkSpeed speed);

/// Supported and enabled: every speed up to `fastest`; the capability bits follow.
void set_offered_speeds(PortInfo& info, LinkSpeed fastest);

/// Data VLs behind a vl_cap or operational_vls code: 1, 2, 4, 8, 15; 0 for codes that mean nothing.
[[nodiscard]] unsigned data_vls(std::uint8_t code);

}  // namespace smd

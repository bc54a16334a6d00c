// PortCounters and PortCountersExtended (IBA 16.1.3.5, 16.1.4.11) of the performance management
// class. The attribute data starts at byte 64 of the MAD.
#pragma once

#include "smd/ib/types.h"
#include "smd/mad/header.h"

namespace smd {

inline constexpr std::size_t kPerfDataOffset = 64;
inline constexpr std::size_t kPerfDataSize = kMadSize - kPerfDataOffset;

namespace perf_attribute {
inline constexpr std::uint16_t kClassPortInfo = 0x0001;
inline constexpr std::uint16_t kPortCounters = 0x0012;
inline constexpr std::uint16_t kPortCountersExtended = 0x001d;
}  // namespace perf_attribute

/// ClassPortInfo of performance management (IBA 16.1.3.1).
namespace perf_capability {
// CapabilityMask.
inline constexpr std::uint16_t kAllPortSelect = 1u << 8;
inline constexpr std::uint16_t kExtendedWidth = 1u << 9;
inline constexpr std::uint16_t kHasXmitWait = 1u << 12;  // of PortCounters
// CapabilityMask2, which has RespTimeValue behind it in its word.
inline constexpr std::uint32_t kAdditionalExtended = 1u << 1;
inline constexpr unsigned kRespTimeBits = 5;
}  // namespace perf_capability

/// What a Set of PortCounters resets.
namespace counter_select {
inline constexpr std::uint16_t kSymbolErrors = 1u << 0;
inline constexpr std::uint16_t kLinkErrorRecovery = 1u << 1;
inline constexpr std::uint16_t kLinkDowned = 1u << 2;
inline constexpr std::uint16_t kRcvErrors = 1u << 3;
inline constexpr std::uint16_t kRcvRemotePhysicalErrors = 1u << 4;
inline constexpr std::uint16_t kRcvSwitchRelayErrors = 1u << 5;
inline constexpr std::uint16_t kXmitDiscards = 1u << 6;
inline constexpr std::uint16_t kXmitConstraintErrors = 1u << 7;
inline constexpr std::uint16_t kRcvConstraintErrors = 1u << 8;
inline constexpr std::uint16_t kLocalLinkIntegrityErrors = 1u << 9;
inline constexpr std::uint16_t kExcessiveBufferOverrunErrors = 1u << 10;
inline constexpr std::uint16_t kVl15Dropped = 1u << 11;
inline constexpr std::uint16_t kXmitData = 1u << 12;
inline constexpr std::uint16_t kRcvData = 1u << 13;
inline constexpr std::uint16_t kXmitPackets = 1u << 14;
inline constexpr std::uint16_t kRcvPackets = 1u << 15;
// CounterSelect2.
inline constexpr std::uint8_t kXmitWait = 1u << 0;
}  // namespace counter_select

/// What a Set of PortCountersExtended resets.
namespace extended_counter_select {
inline constexpr std::uint16_t kXmitData = 1u << 0;
inline constexpr std::uint16_t kRcvData = 1u << 1;
inline constexpr std::uint16_t kXmitPackets = 1u << 2;
inline constexpr std::uint16_t kRcvPackets = 1u << 3;
inline constexpr std::uint16_t kUnicastXmitPackets = 1u << 4;
inline constexpr std::uint16_t kUnicastRcvPackets = 1u << 5;
inline constexpr std::uint16_t kMulticastXmitPackets = 1u << 6;
inline constexpr std::uint16_t kMulticastRcvPackets = 1u << 7;
}  // namespace extended_counter_select

struct PortCounters {
  PortNum port_select;
  std::uint16_t counter_select = 0;
  std::uint16_t symbol_errors = 0;
  std::uint8_t link_error_recovery = 0;
  std::uint8_t link_downed = 0;
  std::uint16_t rcv_errors = 0;
  std::uint16_t rcv_remote_physical_errors = 0;
  std::uint16_t rcv_switch_relay_errors = 0;
  std::uint16_t xmit_discards = 0;
  std::uint8_t xmit_constraint_errors = 0;
  std::uint8_t rcv_constraint_errors = 0;
  std::uint8_t local_link_integrity_errors = 0;      // 4 bits
  std::uint8_t excessive_buffer_overrun_errors = 0;  // 4 bits
  std::uint16_t vl15_dropped = 0;
  std::uint32_t xmit_data = 0;  // units of 4 bytes, as the next
  std::uint32_t rcv_data = 0;
  std::uint32_t xmit_packets = 0;
  std::uint32_t rcv_packets = 0;
  std::uint32_t xmit_wait = 0;
  std::uint8_t counter_select2 = 0;
  std::uint16_t qp1_dropped = 0;

  friend bool operator==(const PortCounters&, const PortCounters&) = default;
};

struct PortCountersExtended {
  PortNum port_select;
  std::uint16_t counter_select = 0;
  std::uint64_t xmit_data = 0;
  std::uint64_t rcv_data = 0;
  std::uint64_t xmit_packets = 0;
  std::uint64_t rcv_packets = 0;
  std::uint64_t unicast_xmit_packets = 0;
  std::uint64_t unicast_rcv_packets = 0;
  std::uint64_t multicast_xmit_packets = 0;
  std::uint64_t multicast_rcv_packets = 0;
  // The rest is valid where ClassPortInfo announces the additional extended counters.
  std::uint32_t counter_select2 = 0;
  std::uint64_t symbol_errors = 0;
  std::uint64_t link_error_recovery = 0;
  std::uint64_t link_downed = 0;
  std::uint64_t rcv_errors = 0;
  std::uint64_t rcv_remote_physical_errors = 0;
  std::uint64_t rcv_switch_relay_errors = 0;
  std::uint64_t xmit_discards = 0;
  std::uint64_t xmit_constraint_errors = 0;
  std::uint64_t rcv_constraint_errors = 0;
  std::uint64_t local_link_integrity_errors = 0;
  std::uint64_t excessive_buffer_overrun_errors = 0;
  std::uint64_t vl15_dropped = 0;
  std::uint64_t xmit_wait = 0;
  std::uint64_t qp1_dropped = 0;

  friend bool operator==(const PortCountersExtended&, const PortCountersExtended&) = default;
};

Result<PortCounters> decode_port_counters(std::span<const std::byte> data);
void encode_port_counters(const PortCounters& counters, std::span<std::byte, kPerfDataSize> data);
[[nodiscard]] std::string print_port_counters(const PortCounters& counters);

Result<PortCountersExtended> decode_port_counters_extended(std::span<const std::byte> data);
void encode_port_counters_extended(const PortCountersExtended& counters,
                                   std::span<std::byte, kPerfDataSize> data);
[[nodiscard]] std::string print_port_counters_extended(const PortCountersExtended& counters);

}  // namespace smd

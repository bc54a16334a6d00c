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

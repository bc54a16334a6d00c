// SwitchInfo (IBA 14.2.5.4): table sizes, tops, default ports, PortStateChange.
#pragma once

#include "smd/mad/smp.h"

namespace smd {

struct SwitchInfo {
  std::uint16_t linear_fdb_cap = 0;
  std::uint16_t random_fdb_cap = 0;
  std::uint16_t multicast_fdb_cap = 0;
  std::uint16_t linear_fdb_top = 0;
  PortNum default_port;
  PortNum default_mcast_primary_port;
  PortNum default_mcast_not_primary_port;
  std::uint8_t life_time_value = 0;     // 5 bits; 4.096 us * 2^n
  bool port_state_change = false;       // write 1 to clear
  std::uint8_t optimized_sl_to_vl = 0;  // 2 bits: OptimizedSLtoVLMappingProgramming
  std::uint16_t lids_per_port = 0;
  std::uint16_t partition_enforcement_cap = 0;
  bool inbound_enforcement_cap = false;
  bool outbound_enforcement_cap = false;
  bool filter_raw_inbound_cap = false;
  bool filter_raw_outbound_cap = false;
  bool enhanced_port0 = false;
  std::uint16_t multicast_fdb_top = 0;

  friend bool operator==(const SwitchInfo&, const SwitchInfo&) = default;
};

Result<SwitchInfo> decode_switch_info(std::span<const std::byte> data);
void encode_switch_info(const SwitchInfo& info, std::span<std::byte, kSmpDataSize> data);
[[nodiscard]] std::string print_switch_info(const SwitchInfo& info);

}  // namespace smd

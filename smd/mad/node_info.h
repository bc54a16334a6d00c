// NodeInfo, NodeDescription, SwitchInfo and SMInfo.
#pragma once

#include <string>
#include <string_view>

#include "smd/mad/smp.h"

namespace smd {

// NodeInfo (IBA 14.2.5.3) and NodeDescription (14.2.5.2): what a node is.

struct NodeInfo {
  std::uint8_t base_version = 1;
  std::uint8_t class_version = 1;
  std::uint8_t node_type = 0;  // raw; see NodeType
  std::uint8_t num_ports = 0;
  Guid system_guid;
  Guid node_guid;
  Guid port_guid;
  std::uint16_t partition_cap = 0;
  std::uint16_t device_id = 0;
  std::uint32_t revision = 0;
  PortNum local_port;           // the port that the request arrived at
  std::uint32_t vendor_id = 0;  // 24 bits

  [[nodiscard]] bool is_switch() const {
    return node_type == static_cast<std::uint8_t>(NodeType::Switch);
  }

  friend bool operator==(const NodeInfo&, const NodeInfo&) = default;
};

/// Whether there may be such a node at all. Who answers otherwise is as if it had not answered.
[[nodiscard]] bool is_plausible(const NodeInfo& info);

Result<NodeInfo> decode_node_info(std::span<const std::byte> data);
void encode_node_info(const NodeInfo& info, std::span<std::byte, kSmpDataSize> data);
[[nodiscard]] std::string print_node_info(const NodeInfo& info);

/// 64 bytes of UTF-8, NUL-padded; decoding stops at the first NUL and keeps every other byte.
Result<std::string> decode_node_description(std::span<const std::byte> data);

/// Safe to show: control characters, quotes and backslashes as \xNN; other bytes, UTF-8 among them,
/// as they are.
[[nodiscard]] std::string print_node_description(std::string_view text);

/// Longer texts are cut to 64 bytes, at a UTF-8 boundary.
void encode_node_description(std::string_view text, std::span<std::byte, kSmpDataSize> data);

// SwitchInfo (IBA 14.2.5.4): table sizes, tops, default ports, PortStateChange.

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

// SMInfo (IBA 14.2.5.13): who manages the subnet, and how much they want to.

enum class SmState : std::uint8_t { NotActive = 0, Discovering = 1, Standby = 2, Master = 3 };

struct SmInfo {
  Guid guid;
  SmKey sm_key;
  std::uint32_t act_count = 0;
  std::uint8_t priority = 0;  // 4 bits
  std::uint8_t sm_state = 0;  // 4 bits; see SmState

  friend bool operator==(const SmInfo&, const SmInfo&) = default;
};

Result<SmInfo> decode_sm_info(std::span<const std::byte> data);
void encode_sm_info(const SmInfo& info, std::span<std::byte, kSmpDataSize> data);
[[nodiscard]] std::string_view print_sm_state(SmState state);
[[nodiscard]] std::string print_sm_info(const SmInfo& info);

}  // namespace smd

// NodeInfo (IBA 14.2.5.3) and NodeDescription (14.2.5.2): what a node is.
#pragma once

#include <string>
#include <string_view>

#include "smd/mad/smp.h"

namespace smd {

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

}  // namespace smd

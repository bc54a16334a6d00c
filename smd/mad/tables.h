// Table attributes, one block at a time, and the attribute modifiers that name a block.
#pragma once

#include <array>
#include <cstdint>

#include "smd/ib/types.h"
#include "smd/mad/smp.h"

namespace smd {

// Attribute modifiers that are made of parts: which port, which block. Bits outside the parts are
// ignored when read and zero when written.

/// PortInfo. Bit 31 (SMSupportExtendedSpeeds) tells the agent that the manager knows extended
/// speeds: without it a Get may show none, whatever the link runs at, and a Set leaves
/// LinkSpeedExtEnabled alone. For devices whose CapabilityMask has kIsExtendedSpeedsSupported.
struct PortInfoModifier {
  PortNum port;
  bool extended_speeds = false;

  friend bool operator==(const PortInfoModifier&, const PortInfoModifier&) = default;
};

[[nodiscard]] std::uint32_t encode_modifier(const PortInfoModifier& modifier);
[[nodiscard]] PortInfoModifier decode_port_info_modifier(std::uint32_t modifier);

/// As the device wants it. `capability_mask` is that of the port's management port: port 0 of a
/// switch, else the port itself; 0 where it is not known.
[[nodiscard]] std::uint32_t port_info_modifier(PortNum port, std::uint32_t capability_mask);

/// SLtoVLMappingTable of a switch. `all_in` and `all_out` need OptimizedSLtoVLMapping; the port
/// they replace is then ignored.
struct SlToVlModifier {
  PortNum in;
  PortNum out;
  bool all_in = false;
  bool all_out = false;

  friend bool operator==(const SlToVlModifier&, const SlToVlModifier&) = default;
};

[[nodiscard]] std::uint32_t encode_modifier(const SlToVlModifier& modifier);
[[nodiscard]] SlToVlModifier decode_sl_to_vl_modifier(std::uint32_t modifier);

/// Which 32 of the 128 entries of a port's arbitration table.
enum class VlArbPart : std::uint16_t {
  LowFirst = 1,
  LowSecond = 2,
  HighFirst = 3,
  HighSecond = 4,
};

/// VLArbitrationTable. `part` is raw when decoded: values other than the four mean nothing.
struct VlArbModifier {
  VlArbPart part = VlArbPart::LowFirst;
  PortNum port;

  friend bool operator==(const VlArbModifier&, const VlArbModifier&) = default;
};

[[nodiscard]] std::uint32_t encode_modifier(const VlArbModifier& modifier);
[[nodiscard]] VlArbModifier decode_vl_arb_modifier(std::uint32_t modifier);

/// MulticastForwardingTable: 9 bits of block, 4 bits of position (16 ports each).
struct MftModifier {
  std::uint16_t block = 0;
  std::uint8_t position = 0;

  friend bool operator==(const MftModifier&, const MftModifier&) = default;
};

[[nodiscard]] std::uint32_t encode_modifier(const MftModifier& modifier);
[[nodiscard]] MftModifier decode_mft_modifier(std::uint32_t modifier);

/// P_KeyTable. The port is 0 on nodes other than switches.
struct PKeyModifier {
  std::uint16_t block = 0;
  PortNum port;

  friend bool operator==(const PKeyModifier&, const PKeyModifier&) = default;
};

[[nodiscard]] std::uint32_t encode_modifier(const PKeyModifier& modifier);
[[nodiscard]] PKeyModifier decode_p_key_modifier(std::uint32_t modifier);

// The table attributes of a subnet management agent, one 64-byte block at a time (IBA 14.2.5.5, .7
// – .12, .20). Their attribute modifiers are above.

inline constexpr std::size_t kLftBlockSize = 64;
inline constexpr std::size_t kRftBlockSize = 16;
inline constexpr std::size_t kMftBlockSize = 32;
inline constexpr std::size_t kPKeyBlockSize = 32;
inline constexpr std::size_t kVlArbBlockSize = 32;
inline constexpr std::size_t kGuidBlockSize = 8;
inline constexpr std::size_t kPortStateBlockSize = 128;

/// LinearForwardingTable; modifier = block number, entry i routes LID block * 64 + i. 255: no
/// route.
using LftBlock = std::array<PortNum, kLftBlockSize>;

struct RftEntry {
  Lid lid;
  bool valid = false;
  std::uint8_t lmc = 0;  // 3 bits
  PortNum port;

  friend bool operator==(const RftEntry&, const RftEntry&) = default;
};

/// RandomForwardingTable; modifier = block number.
using RftBlock = std::array<RftEntry, kRftBlockSize>;

/// MulticastForwardingTable; modifier = block (bits 0-8) | port-mask position (bits 28-31).
/// Bit b of entry i: forward MLID 0xC000 + block * 32 + i to port position * 16 + b.
using MftBlock = std::array<std::uint16_t, kMftBlockSize>;

/// P_KeyTable; modifier = block (bits 0-15) | switch port (bits 16-31).
using PKeyBlock = std::array<PKey, kPKeyBlockSize>;

/// SLtoVLMappingTable; modifier = out port (bits 0-7) | in port (bits 8-15) on switches; bit 16
/// means "all out ports", bit 17 "all in ports" where OptimizedSLtoVLMapping is offered.
using SlToVl = std::array<Vl, 16>;

struct VlArbEntry {
  Vl vl;
  std::uint8_t weight = 0;  // units of 64 bytes

  friend bool operator==(const VlArbEntry&, const VlArbEntry&) = default;
};

/// VLArbitrationTable; modifier = part (bits 16-31: 1 low 0-31, 2 low 32-63, 3 high 0-31, 4 high
/// 32-63) | out port.
using VlArbBlock = std::array<VlArbEntry, kVlArbBlockSize>;

/// SwitchPortStateTable (IBA 14.2.5.20), which can only be read: PortState of 128 ports of a
/// switch, port 0 among them; modifier = block number. Offered where CapabilityMask2 of port 0 has
/// kIsSwitchPortStateTableSupported. Ports that the switch does not have read as 0.
using PortStateBlock = std::array<PortState, kPortStateBlockSize>;

/// GUIDInfo; modifier = block number.
using GuidBlock = std::array<Guid, kGuidBlockSize>;

Result<LftBlock> decode_lft_block(std::span<const std::byte> data);
void encode_lft_block(const LftBlock& block, std::span<std::byte, kSmpDataSize> data);
[[nodiscard]] std::string print_lft_block(const LftBlock& block);

Result<RftBlock> decode_rft_block(std::span<const std::byte> data);
void encode_rft_block(const RftBlock& block, std::span<std::byte, kSmpDataSize> data);
[[nodiscard]] std::string print_rft_block(const RftBlock& block);

Result<MftBlock> decode_mft_block(std::span<const std::byte> data);
void encode_mft_block(const MftBlock& block, std::span<std::byte, kSmpDataSize> data);
[[nodiscard]] std::string print_mft_block(const MftBlock& block);

Result<PKeyBlock> decode_p_key_block(std::span<const std::byte> data);
void encode_p_key_block(const PKeyBlock& block, std::span<std::byte, kSmpDataSize> data);
[[nodiscard]] std::string print_p_key_block(const PKeyBlock& block);

Result<SlToVl> decode_sl_to_vl(std::span<const std::byte> data);
void encode_sl_to_vl(const SlToVl& map, std::span<std::byte, kSmpDataSize> data);
[[nodiscard]] std::string print_sl_to_vl(const SlToVl& map);

Result<VlArbBlock> decode_vl_arb_block(std::span<const std::byte> data);
void encode_vl_arb_block(const VlArbBlock& block, std::span<std::byte, kSmpDataSize> data);
[[nodiscard]] std::string print_vl_arb_block(const VlArbBlock& block);

Result<PortStateBlock> decode_port_state_block(std::span<const std::byte> data);
void encode_port_state_block(const PortStateBlock& block, std::span<std::byte, kSmpDataSize> data);
[[nodiscard]] std::string print_port_state_block(const PortStateBlock& block);

Result<GuidBlock> decode_guid_block(std::span<const std::byte> data);
void encode_guid_block(const GuidBlock& block, std::span<std::byte, kSmpDataSize> data);
[[nodiscard]] std::string print_guid_block(const GuidBlock& block);

}  // namespace smd

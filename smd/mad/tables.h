// The table attributes of a subnet management agent, one 64-byte block at a time (IBA 14.2.5.5, .7
// – .12). Their attribute modifiers are in modifiers.h.
#pragma once

#include <array>

#include "smd/mad/smp.h"

namespace smd {

inline constexpr std::size_t kLftBlockSize = 64;
inline constexpr std::size_t kRftBlockSize = 16;
inline constexpr std::size_t kMftBlockSize = 32;
inline constexpr std::size_t kPKeyBlockSize = 32;
inline constexpr std::size_t kVlArbBlockSize = 32;
inline constexpr std::size_t kGuidBlockSize = 8;

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

Result<GuidBlock> decode_guid_block(std::span<const std::byte> data);
void encode_guid_block(const GuidBlock& block, std::span<std::byte, kSmpDataSize> data);
[[nodiscard]] std::string print_guid_block(const GuidBlock& block);

}  // namespace smd

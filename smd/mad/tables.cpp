#include "smd/mad/tables.h"

#include <fmt/core.h>

#include "smd/mad/codec.h"
#include "smd/mad/port_info.h"

namespace smd {
namespace {

constexpr std::uint32_t kExtendedSpeeds = 1u << 31;
constexpr std::uint32_t kAllOutPorts = 1u << 16;
constexpr std::uint32_t kAllInPorts = 1u << 17;
constexpr std::uint32_t kMftBlockMask = 0x1ff;

PortNum port_at(std::uint32_t modifier, unsigned low) {
  return PortNum{static_cast<std::uint8_t>((modifier >> low) & 0xff)};
}

}  // namespace

std::uint32_t encode_modifier(const PortInfoModifier& modifier) {
  return modifier.port.value() | (modifier.extended_speeds ? kExtendedSpeeds : 0u);
}

PortInfoModifier decode_port_info_modifier(std::uint32_t modifier) {
  return {.port = port_at(modifier, 0), .extended_speeds = (modifier & kExtendedSpeeds) != 0};
}

std::uint32_t port_info_modifier(PortNum port, std::uint32_t capability_mask) {
  const bool extended = (capability_mask & port_cap::kIsExtendedSpeedsSupported) != 0;
  return encode_modifier(PortInfoModifier{.port = port, .extended_speeds = extended});
}

std::uint32_t encode_modifier(const SlToVlModifier& modifier) {
  return modifier.out.value() | static_cast<std::uint32_t>(modifier.in.value()) << 8 |
         (modifier.all_out ? kAllOutPorts : 0u) | (modifier.all_in ? kAllInPorts : 0u);
}

SlToVlModifier decode_sl_to_vl_modifier(std::uint32_t modifier) {
  return {.in = port_at(modifier, 8),
          .out = port_at(modifier, 0),
          .all_in = (modifier & kAllInPorts) != 0,
          .all_out = (modifier & kAllOutPorts) != 0};
}

std::uint32_t encode_modifier(const VlArbModifier& modifier) {
  return static_cast<std::uint32_t>(modifier.part) << 16 | modifier.port.value();
}

VlArbModifier decode_vl_arb_modifier(std::uint32_t modifier) {
  return {.part = static_cast<VlArbPart>(modifier >> 16), .port = port_at(modifier, 0)};
}

std::uint32_t encode_modifier(const MftModifier& modifier) {
  return static_cast<std::uint32_t>(modifier.position & 0xfu) << 28 |
         (modifier.block & kMftBlockMask);
}

MftModifier decode_mft_modifier(std::uint32_t modifier) {
  return {.block = static_cast<std::uint16_t>(modifier & kMftBlockMask),
          .position = static_cast<std::uint8_t>(modifier >> 28)};
}

std::uint32_t encode_modifier(const PKeyModifier& modifier) {
  return static_cast<std::uint32_t>(modifier.port.value()) << 16 | modifier.block;
}

PKeyModifier decode_p_key_modifier(std::uint32_t modifier) {
  return {.block = static_cast<std::uint16_t>(modifier & 0xffff), .port = port_at(modifier, 16)};
}

Result<LftBlock> decode_lft_block(std::span<const std::byte> data) {
  ByteReader in(data);
  LftBlock block;
  for (PortNum& port : block) port = PortNum{in.u8()};
  if (!in.ok()) return codec::too_short("LinearForwardingTable", data.size());
  return block;
}

void encode_lft_block(const LftBlock& block, std::span<std::byte, kSmpDataSize> data) {
  ByteWriter out(data);
  for (const PortNum port : block) out.u8(port.value());
}

std::string print_lft_block(const LftBlock& block) {
  std::string line = "ports";
  for (const PortNum port : block) {
    line += port == kNoRoute ? " -" : fmt::format(" {}", port);
  }
  return line;
}

Result<RftBlock> decode_rft_block(std::span<const std::byte> data) {
  ByteReader in(data);
  RftBlock block;
  for (RftEntry& entry : block) {
    entry.lid = Lid{in.u16()};
    const std::uint8_t flags = in.u8();
    entry.valid = codec::bit(flags, 7);
    entry.lmc = codec::bits(flags, 4, 3);
    entry.port = PortNum{in.u8()};
  }
  if (!in.ok()) return codec::too_short("RandomForwardingTable", data.size());
  return block;
}

void encode_rft_block(const RftBlock& block, std::span<std::byte, kSmpDataSize> data) {
  ByteWriter out(data);
  for (const RftEntry& entry : block) {
    out.u16(entry.lid.value());
    out.u8(codec::join(codec::place(entry.valid, 7, 1), codec::place(entry.lmc, 4, 3)));
    out.u8(entry.port.value());
  }
}

std::string print_rft_block(const RftBlock& block) {
  std::string line = "entries";
  for (std::size_t i = 0; i < block.size(); ++i) {
    if (!block[i].valid) continue;
    line += fmt::format(" {}:lid {}/{} port {}", i, block[i].lid, block[i].lmc, block[i].port);
  }
  return line;
}

Result<MftBlock> decode_mft_block(std::span<const std::byte> data) {
  ByteReader in(data);
  MftBlock block;
  for (std::uint16_t& mask : block) mask = in.u16();
  if (!in.ok()) return codec::too_short("MulticastForwardingTable", data.size());
  return block;
}

void encode_mft_block(const MftBlock& block, std::span<std::byte, kSmpDataSize> data) {
  ByteWriter out(data);
  for (const std::uint16_t mask : block) out.u16(mask);
}

std::string print_mft_block(const MftBlock& block) {
  std::string line = "masks";
  for (std::size_t i = 0; i < block.size(); ++i) {
    if (block[i] != 0) line += fmt::format(" {}:0x{:04x}", i, block[i]);
  }
  return line;
}

Result<PKeyBlock> decode_p_key_block(std::span<const std::byte> data) {
  ByteReader in(data);
  PKeyBlock block;
  for (PKey& key : block) key = PKey{in.u16()};
  if (!in.ok()) return codec::too_short("P_KeyTable", data.size());
  return block;
}

void encode_p_key_block(const PKeyBlock& block, std::span<std::byte, kSmpDataSize> data) {
  ByteWriter out(data);
  for (const PKey key : block) out.u16(key.value());
}

std::string print_p_key_block(const PKeyBlock& block) {
  std::string line = "pkeys";
  for (std::size_t i = 0; i < block.size(); ++i) {
    if (block[i] != PKey{0}) line += fmt::format(" {}:0x{:04x}", i, block[i].value());
  }
  return line;
}

Result<SlToVl> decode_sl_to_vl(std::span<const std::byte> data) {
  ByteReader in(data);
  SlToVl map;
  for (std::size_t sl = 0; sl < map.size(); sl += 2) {
    const std::uint8_t pair = in.u8();
    map[sl] = Vl{codec::bits(pair, 4, 4)};
    map[sl + 1] = Vl{codec::bits(pair, 0, 4)};
  }
  if (!in.ok()) return codec::too_short("SLtoVLMappingTable", data.size());
  return map;
}

void encode_sl_to_vl(const SlToVl& map, std::span<std::byte, kSmpDataSize> data) {
  ByteWriter out(data);
  for (std::size_t sl = 0; sl < map.size(); sl += 2) {
    out.u8(
        codec::join(codec::place(map[sl].value(), 4, 4), codec::place(map[sl + 1].value(), 0, 4)));
  }
  codec::pad(out, data.size());
}

std::string print_sl_to_vl(const SlToVl& map) {
  std::string line = "vls";
  for (const Vl vl : map) line += fmt::format(" {}", vl);
  return line;
}

Result<VlArbBlock> decode_vl_arb_block(std::span<const std::byte> data) {
  ByteReader in(data);
  VlArbBlock block;
  for (VlArbEntry& entry : block) {
    entry.vl = Vl{codec::bits(in.u8(), 0, 4)};
    entry.weight = in.u8();
  }
  if (!in.ok()) return codec::too_short("VLArbitrationTable", data.size());
  return block;
}

void encode_vl_arb_block(const VlArbBlock& block, std::span<std::byte, kSmpDataSize> data) {
  ByteWriter out(data);
  for (const VlArbEntry& entry : block) {
    out.u8(codec::place(entry.vl.value(), 0, 4));
    out.u8(entry.weight);
  }
}

std::string print_vl_arb_block(const VlArbBlock& block) {
  std::string line = "vl:weight";
  for (const VlArbEntry& entry : block) {
    if (entry.weight != 0) line += fmt::format(" {}:{}", entry.vl, entry.weight);
  }
  return line;
}

Result<PortStateBlock> decode_port_state_block(std::span<const std::byte> data) {
  ByteReader in(data);
  PortStateBlock block;
  for (std::size_t port = 0; port < block.size(); port += 2) {
    const std::uint8_t pair = in.u8();
    block[port] = static_cast<PortState>(codec::bits(pair, 4, 4));
    block[port + 1] = static_cast<PortState>(codec::bits(pair, 0, 4));
  }
  if (!in.ok()) return codec::too_short("SwitchPortStateTable", data.size());
  return block;
}

void encode_port_state_block(const PortStateBlock& block, std::span<std::byte, kSmpDataSize> data) {
  ByteWriter out(data);
  for (std::size_t port = 0; port < block.size(); port += 2) {
    out.u8(codec::join(codec::place(static_cast<unsigned>(block[port]), 4, 4),
                       codec::place(static_cast<unsigned>(block[port + 1]), 0, 4)));
  }
}

std::string print_port_state_block(const PortStateBlock& block) {
  std::string line = "states";
  for (std::size_t port = 0; port < block.size(); ++port) {
    if (block[port] != PortState::NoChange)
      line += fmt::format(" {}:{}", port, static_cast<unsigned>(block[port]));
  }
  return line;
}

Result<GuidBlock> decode_guid_block(std::span<const std::byte> data) {
  ByteReader in(data);
  GuidBlock block;
  for (Guid& guid : block) guid = Guid{in.u64()};
  if (!in.ok()) return codec::too_short("GUIDInfo", data.size());
  return block;
}

void encode_guid_block(const GuidBlock& block, std::span<std::byte, kSmpDataSize> data) {
  ByteWriter out(data);
  for (const Guid guid : block) out.u64(guid.value());
}

std::string print_guid_block(const GuidBlock& block) {
  std::string line = "guids";
  for (std::size_t i = 0; i < block.size(); ++i) {
    if (block[i] != Guid{}) line += fmt::format(" {}:{}", i, block[i]);
  }
  return line;
}

}  // namespace smd

#include "smd/mad/modifiers.h"

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

}  // namespace smd

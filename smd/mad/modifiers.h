// Attribute modifiers that are made of parts: which port, which block. Bits outside the parts are
// ignored when read and zero when written.
#pragma once

#include <cstdint>

#include "smd/ib/types.h"

namespace smd {

/// PortInfo. Bit 31 tells the agent that the manager knows extended speeds; without it a Set leaves
/// LinkSpeedExtEnabled alone.
struct PortInfoModifier {
  PortNum port;
  bool extended_speeds = false;

  friend bool operator==(const PortInfoModifier&, const PortInfoModifier&) = default;
};

[[nodiscard]] std::uint32_t encode_modifier(const PortInfoModifier& modifier);
[[nodiscard]] PortInfoModifier decode_port_info_modifier(std::uint32_t modifier);

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

}  // namespace smd

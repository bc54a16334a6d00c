#include "smd/mad/extended_port_info.h"

#include <fmt/core.h>

#include "smd/mad/codec.h"

namespace smd {

// Each field is the last byte of a 32-bit word.
Result<ExtendedPortInfo> decode_extended_port_info(std::span<const std::byte> data) {
  ByteReader in(data);
  const auto last_of_word = [&in] {
    in.skip(3);
    return in.u8();
  };
  ExtendedPortInfo info;
  info.state_change_enable = last_of_word();
  info.link_speed_supported = last_of_word();
  info.link_speed_enabled = last_of_word();
  info.link_speed_active = last_of_word();
  if (!in.ok()) return codec::too_short("ExtendedPortInfo", data.size());
  return info;
}

void encode_extended_port_info(const ExtendedPortInfo& info,
                               std::span<std::byte, kSmpDataSize> data) {
  ByteWriter out(data);
  out.u32(info.state_change_enable);
  out.u32(info.link_speed_supported);
  out.u32(info.link_speed_enabled);
  out.u32(info.link_speed_active);
  codec::pad(out, data.size());
}

std::string print_extended_port_info(const ExtendedPortInfo& info) {
  return fmt::format(
      "fdr10 supported 0x{:02x} enabled 0x{:02x} active 0x{:02x} state change 0x{:02x}",
      info.link_speed_supported,
      info.link_speed_enabled,
      info.link_speed_active,
      info.state_change_enable);
}

}  // namespace smd

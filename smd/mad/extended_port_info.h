// ExtendedPortInfo, vendor attribute 0xff90 (Mellanox): tells FDR10 from QDR. Read where offered,
// never written.
#pragma once

#include "smd/mad/smp.h"

namespace smd {

struct ExtendedPortInfo {
  std::uint8_t state_change_enable = 0;
  std::uint8_t link_speed_supported = 0;  // bit 0: FDR10
  std::uint8_t link_speed_enabled = 0;
  std::uint8_t link_speed_active = 0;

  friend bool operator==(const ExtendedPortInfo&, const ExtendedPortInfo&) = default;
};

Result<ExtendedPortInfo> decode_extended_port_info(std::span<const std::byte> data);
void encode_extended_port_info(const ExtendedPortInfo& info,
                               std::span<std::byte, kSmpDataSize> data);
[[nodiscard]] std::string print_extended_port_info(const ExtendedPortInfo& info);

}  // namespace smd

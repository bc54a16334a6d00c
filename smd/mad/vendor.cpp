#include "smd/mad/vendor.h"

#include <fmt/format.h>

#include <algorithm>

#include "smd/mad/codec.h"

namespace smd {
namespace {

// Where in AdaptiveRoutingInfo something is switched on.
struct Switch {
  bool AdaptiveRoutingInfo::*field;
  std::size_t byte;
  unsigned bit;
  const char* name;
};

constexpr Switch kSwitches[] = {
    {&AdaptiveRoutingInfo::enabled, 3, 0, "adaptive routing"},
    {&AdaptiveRoutingInfo::fast_recovery, 3, 4, "fast link fault recovery"},
    {&AdaptiveRoutingInfo::fast_recovery_notifications, 22, 4, "fast recovery notifications"},
    {&AdaptiveRoutingInfo::weighted_hash_based_forwarding, 22, 6, "weighted hash-based forwarding"},
    {&AdaptiveRoutingInfo::hash_based_forwarding, 22, 7, "hash-based forwarding"},
};

constexpr std::size_t kActiveMode = 3;  // byte of PrivateLFTInfo

/// The whole attribute: what is not understood has to be written back as it was.
bool copy_whole(std::span<const std::byte> data, SmpData& to) {
  if (data.size() < to.size()) return false;
  std::ranges::copy(data.first(to.size()), to.begin());
  return true;
}

}  // namespace

Result<GeneralInfo> decode_general_info(std::span<const std::byte> data) {
  ByteReader in(data);
  GeneralInfo info;
  for (std::uint32_t& word : info.capability_mask) word = in.u32();
  if (!in.ok()) return codec::too_short("GeneralInfo", data.size());
  return info;
}

void encode_general_info(const GeneralInfo& info, std::span<std::byte, kSmpDataSize> data) {
  ByteWriter out(data);
  for (const std::uint32_t word : info.capability_mask) out.u32(word);
  codec::pad(out, data.size());
}

std::string print_general_info(const GeneralInfo& info) {
  const auto& mask = info.capability_mask;
  return fmt::format(
      "capabilities 0x{:08x} 0x{:08x} 0x{:08x} 0x{:08x}", mask[0], mask[1], mask[2], mask[3]);
}

Result<AdaptiveRoutingInfo> decode_adaptive_routing_info(std::span<const std::byte> data) {
  AdaptiveRoutingInfo info;
  if (!copy_whole(data, info.rest)) return codec::too_short("AdaptiveRoutingInfo", data.size());
  for (const Switch& each : kSwitches) {
    std::byte& byte = info.rest[each.byte];
    const auto mask = std::byte{1} << each.bit;
    info.*each.field = (byte & mask) != std::byte{0};
    byte &= ~mask;
  }
  return info;
}

void encode_adaptive_routing_info(const AdaptiveRoutingInfo& info,
                                  std::span<std::byte, kSmpDataSize> data) {
  std::ranges::copy(info.rest, data.begin());
  for (const Switch& each : kSwitches) {
    const auto mask = std::byte{1} << each.bit;
    data[each.byte] = info.*each.field ? data[each.byte] | mask : data[each.byte] & ~mask;
  }
}

std::string print_adaptive_routing_info(const AdaptiveRoutingInfo& info) {
  std::string text;
  for (const Switch& each : kSwitches) {
    if (!(info.*each.field)) continue;
    if (!text.empty()) text += ", ";
    text += each.name;
  }
  return text.empty() ? "nothing" : text;
}

Result<PrivateLftInfo> decode_private_lft_info(std::span<const std::byte> data) {
  PrivateLftInfo info;
  if (!copy_whole(data, info.rest)) return codec::too_short("PrivateLFTInfo", data.size());
  info.active_mode = std::to_integer<std::uint8_t>(info.rest[kActiveMode]);
  info.rest[kActiveMode] = std::byte{0};
  return info;
}

void encode_private_lft_info(const PrivateLftInfo& info, std::span<std::byte, kSmpDataSize> data) {
  std::ranges::copy(info.rest, data.begin());
  data[kActiveMode] = std::byte{info.active_mode};
}

std::string print_private_lft_info(const PrivateLftInfo& info) {
  return fmt::format("mode {}", info.active_mode);
}

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

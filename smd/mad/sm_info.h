// SMInfo (IBA 14.2.5.13): who manages the subnet, and how much they want to.
#pragma once

#include <string_view>

#include "smd/mad/smp.h"

namespace smd {

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

#include "smd/mad/sm_info.h"

#include <fmt/core.h>

#include "smd/mad/codec.h"

namespace smd {

Result<SmInfo> decode_sm_info(std::span<const std::byte> data) {
  ByteReader in(data);
  SmInfo info;
  info.guid = Guid{in.u64()};
  info.sm_key = SmKey{in.u64()};
  info.act_count = in.u32();
  const std::uint8_t priority_state = in.u8();
  info.priority = codec::bits(priority_state, 4, 4);
  info.sm_state = codec::bits(priority_state, 0, 4);
  if (!in.ok()) return codec::too_short("SMInfo", data.size());
  return info;
}

void encode_sm_info(const SmInfo& info, std::span<std::byte, kSmpDataSize> data) {
  ByteWriter out(data);
  out.u64(info.guid.value());
  out.u64(info.sm_key.value());
  out.u32(info.act_count);
  out.u8(codec::join(codec::place(info.priority, 4, 4), codec::place(info.sm_state, 0, 4)));
  codec::pad(out, data.size());
}

std::string_view print_sm_state(SmState state) {
  switch (state) {
    case SmState::NotActive:
      return "not-active";
    case SmState::Discovering:
      return "discovering";
    case SmState::Standby:
      return "standby";
    case SmState::Master:
      return "master";
  }
  return "unknown";
}

std::string print_sm_info(const SmInfo& info) {
  return fmt::format("sm {} {} priority {} activity {}",
                     info.guid,
                     print_sm_state(static_cast<SmState>(info.sm_state)),
                     info.priority,
                     info.act_count);
}

}  // namespace smd

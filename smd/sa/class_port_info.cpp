#include "smd/sa/class_port_info.h"

#include "smd/mad/codec.h"

namespace smd::sa {

Result<ClassPortInfo> decode_class_port_info(std::span<const std::byte> data) {
  ByteReader in(data);
  ClassPortInfo info{
      .base_version = in.u8(), .class_version = in.u8(), .capability_mask = in.u16()};
  const std::uint32_t rest = in.u32();
  info.capability_mask2 = rest >> 5;
  info.resp_time_value = static_cast<std::uint8_t>(rest & 31);
  if (!in.ok()) return codec::too_short("ClassPortInfo", data.size());
  return info;
}

void encode_record(const ClassPortInfo& info, std::span<std::byte> data) {
  ByteWriter out(data.first(kClassPortInfoSize));
  out.u8(info.base_version);
  out.u8(info.class_version);
  out.u16(info.capability_mask);
  out.u32(info.capability_mask2 << 5 | (info.resp_time_value & 31u));
  codec::pad(out, kClassPortInfoSize);
}

}  // namespace smd::sa

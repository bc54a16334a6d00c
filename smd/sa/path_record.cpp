#include "smd/sa/path_record.h"

#include "smd/sa/record_words.h"

namespace smd::sa {
namespace {

constexpr unsigned kRawBit = 31;

}  // namespace

Result<PathRecord> decode_path_record(std::span<const std::byte> data) {
  ByteReader in(data);
  PathRecord record{.service_id = in.u64()};
  record.dgid = read_gid(in);
  record.sgid = read_gid(in);
  record.dlid = Lid{in.u16()};
  record.slid = Lid{in.u16()};
  const std::uint32_t flow = in.u32();
  record.raw_traffic = (flow >> kRawBit) != 0;
  record.flow_label = flow >> 8 & kFlowLabelMask;
  record.hop_limit = static_cast<std::uint8_t>(flow & 0xff);
  record.tclass = in.u8();
  const std::uint8_t paths = in.u8();
  record.reversible = codec::bit(paths, 7);
  record.numb_path = codec::bits(paths, 0, 7);
  record.p_key = PKey{in.u16()};
  const std::uint16_t qos = in.u16();
  record.qos_class = static_cast<std::uint16_t>(qos >> 4);
  record.sl = static_cast<std::uint8_t>(qos & 15);
  record.mtu = read_bound(in.u8());
  record.rate = read_bound(in.u8());
  record.life_time = read_bound(in.u8());
  record.preference = in.u8();
  in.skip(6);
  if (!in.ok()) return codec::too_short("PathRecord", data.size());
  return record;
}

void encode_record(const PathRecord& record, std::span<std::byte> data) {
  ByteWriter out(data.first(kPathRecordSize));
  out.u64(record.service_id);
  write_gid(out, record.dgid);
  write_gid(out, record.sgid);
  out.u16(record.dlid.value());
  out.u16(record.slid.value());
  out.u32((record.raw_traffic ? 1u << kRawBit : 0u) | (record.flow_label & kFlowLabelMask) << 8 |
          record.hop_limit);
  out.u8(record.tclass);
  out.u8(codec::join(codec::place(record.reversible ? 1 : 0, 7, 1),
                     codec::place(record.numb_path, 0, 7)));
  out.u16(record.p_key.value());
  out.u16(static_cast<std::uint16_t>(record.qos_class << 4 | (record.sl & 15)));
  out.u8(write_bound(record.mtu));
  out.u8(write_bound(record.rate));
  out.u8(write_bound(record.life_time));
  out.u8(record.preference);
  codec::pad(out, kPathRecordSize);
}

}  // namespace smd::sa

#include "smd/sa/link_records.h"

#include "smd/mad/codec.h"

namespace smd::sa {
namespace {

constexpr Component kLinkComponents[] = {
    {0, 0, 16},   // FromLID
    {1, 16, 8},   // FromPort
    {2, 24, 8},   // ToPort
    {3, 32, 16},  // ToLID
};

constexpr Component kLftComponents[] = {
    {0, 0, 16},    // LID
    {1, 16, 16},   // BlockNum
    {2, 32, 32},   // reserved
    {3, 64, 512},  // LinearForwardingTable
};

}  // namespace

const RecordShape kLinkRecord{RecordId::LinkRecord, 8, kLinkComponents};
const RecordShape kLftRecord{RecordId::LftRecord, 72, kLftComponents};

Result<LinkRecord> decode_link_record(std::span<const std::byte> data) {
  ByteReader in(data);
  const LinkRecord record{.from_lid = Lid{in.u16()},
                          .from_port = PortNum{in.u8()},
                          .to_port = PortNum{in.u8()},
                          .to_lid = Lid{in.u16()}};
  if (!in.ok()) return codec::too_short("LinkRecord", data.size());
  return record;
}

void encode_record(const LinkRecord& record, std::span<std::byte> data) {
  ByteWriter out(data);
  out.u16(record.from_lid.value());
  out.u8(record.from_port.value());
  out.u8(record.to_port.value());
  out.u16(record.to_lid.value());
  codec::pad(out, data.size());
}

Result<LftRecord> decode_lft_record(std::span<const std::byte> data) {
  if (data.size() < kLftRecord.size) return codec::too_short("LFTRecord", data.size());
  ByteReader in(data);
  return LftRecord{.lid = Lid{in.u16()},
                   .block = in.u16(),
                   .ports = *decode_lft_block(data.subspan(8, kSmpDataSize))};
}

void encode_record(const LftRecord& record, std::span<std::byte> data) {
  ByteWriter out(data);
  out.u16(record.lid.value());
  out.u16(record.block);
  out.zeros(4);
  encode_lft_block(record.ports, data.subspan<8, kSmpDataSize>());
}

}  // namespace smd::sa

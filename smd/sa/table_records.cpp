#include "smd/sa/table_records.h"

#include <algorithm>

#include "smd/mad/codec.h"

namespace smd::sa {
namespace {

constexpr Component kPKeyComponents[] = {
    {0, 0, 16},    // LID
    {1, 16, 16},   // BlockNum
    {2, 32, 8},    // PortNum
    {3, 40, 24},   // reserved
    {4, 64, 512},  // P_KeyTable
};

constexpr Component kSlToVlComponents[] = {
    {0, 0, 16},   // LID
    {1, 16, 8},   // InputPortNum
    {2, 24, 8},   // OutputPortNum
    {3, 32, 32},  // reserved
    {4, 64, 64},  // SLtoVLMappingTable
};

constexpr Component kVlArbComponents[] = {
    {0, 0, 16},    // LID
    {1, 16, 8},    // OutputPortNum
    {2, 24, 8},    // BlockNum
    {3, 32, 32},   // reserved
    {4, 64, 512},  // VLArbitrationTable
};

constexpr std::size_t kTableAt = 8;
constexpr std::size_t kRowSize = 8;

}  // namespace

const RecordShape kPKeyTableRecord{RecordId::PKeyTableRecord, 72, kPKeyComponents};
const RecordShape kSlToVlTableRecord{RecordId::SlToVlTableRecord, 16, kSlToVlComponents};
const RecordShape kVlArbTableRecord{RecordId::VlArbTableRecord, 72, kVlArbComponents};

Result<PKeyTableRecord> decode_p_key_table_record(std::span<const std::byte> data) {
  if (data.size() < kPKeyTableRecord.size) return codec::too_short("P_KeyTableRecord", data.size());
  ByteReader in(data);
  return PKeyTableRecord{.lid = Lid{in.u16()},
                         .block = in.u16(),
                         .port = PortNum{in.u8()},
                         .keys = *decode_p_key_block(data.subspan(kTableAt))};
}

void encode_record(const PKeyTableRecord& record, std::span<std::byte> data) {
  ByteWriter out(data);
  out.u16(record.lid.value());
  out.u16(record.block);
  out.u8(record.port.value());
  out.zeros(3);
  encode_p_key_block(record.keys, data.subspan<kTableAt, kSmpDataSize>());
}

Result<SlToVlTableRecord> decode_sl_to_vl_table_record(std::span<const std::byte> data) {
  if (data.size() < kSlToVlTableRecord.size)
    return codec::too_short("SLtoVLMappingTableRecord", data.size());
  ByteReader in(data);
  return SlToVlTableRecord{.lid = Lid{in.u16()},
                           .in = PortNum{in.u8()},
                           .out = PortNum{in.u8()},
                           .vls = *decode_sl_to_vl(data.subspan(kTableAt))};
}

void encode_record(const SlToVlTableRecord& record, std::span<std::byte> data) {
  ByteWriter out(data);
  out.u16(record.lid.value());
  out.u8(record.in.value());
  out.u8(record.out.value());
  out.zeros(4);
  std::array<std::byte, kSmpDataSize> row{};
  encode_sl_to_vl(record.vls, row);
  std::ranges::copy(std::span(row).first(kRowSize), data.begin() + kTableAt);
}

Result<VlArbTableRecord> decode_vl_arb_table_record(std::span<const std::byte> data) {
  if (data.size() < kVlArbTableRecord.size)
    return codec::too_short("VLArbitrationTableRecord", data.size());
  ByteReader in(data);
  return VlArbTableRecord{.lid = Lid{in.u16()},
                          .out = PortNum{in.u8()},
                          .block = in.u8(),
                          .entries = *decode_vl_arb_block(data.subspan(kTableAt))};
}

void encode_record(const VlArbTableRecord& record, std::span<std::byte> data) {
  ByteWriter out(data);
  out.u16(record.lid.value());
  out.u8(record.out.value());
  out.u8(record.block);
  out.zeros(4);
  encode_vl_arb_block(record.entries, data.subspan<kTableAt, kSmpDataSize>());
}

}  // namespace smd::sa

#include "smd/sa/inform_info.h"

#include "smd/mad/codec.h"

namespace smd::sa {
namespace {

constexpr std::size_t kInfoAt = 24;

constexpr Component kComponents[] = {
    {0, 0, 128},    // SubscriberGID
    {1, 128, 16},   // SubscriberEnum
    {2, 144, 48},   // reserved
    {3, 192, 128},  // GID
    {4, 320, 16},   // LIDRangeBegin
    {5, 336, 16},   // LIDRangeEnd
    {6, 352, 16},   // reserved
    {7, 368, 8},    // IsGeneric
    {8, 376, 8},    // Subscribe
    {9, 384, 16},   // Type
    {10, 400, 16},  // TrapNumber or DeviceID
    {11, 416, 24},  // QPN
    {12, 440, 3},   // reserved
    {13, 443, 5},   // RespTimeValue
    {14, 448, 8},   // reserved
    {15, 456, 24},  // ProducerType or VendorID
};

InformInfo read(ByteReader& in) {
  InformInfo info;
  info.gid = {.prefix = in.u64(), .guid = Guid{in.u64()}};
  info.lid_first = Lid{in.u16()};
  info.lid_last = Lid{in.u16()};
  in.skip(2);
  info.is_generic = in.u8();
  info.subscribe = in.u8();
  info.type = in.u16();
  info.trap_or_device = in.u16();
  info.qpn = in.u24();
  info.resp_time = codec::bits(in.u8(), 0, 5);
  in.skip(1);
  info.producer_or_vendor = in.u24();
  return info;
}

void write(const InformInfo& info, ByteWriter& out) {
  out.u64(info.gid.prefix);
  out.u64(info.gid.guid.value());
  out.u16(info.lid_first.value());
  out.u16(info.lid_last.value());
  out.zeros(2);
  out.u8(info.is_generic);
  out.u8(info.subscribe);
  out.u16(info.type);
  out.u16(info.trap_or_device);
  out.u24(info.qpn);
  out.u8(codec::place(info.resp_time, 0, 5));
  out.zeros(1);
  out.u24(info.producer_or_vendor);
}

}  // namespace

const RecordShape kInformInfoRecord{RecordId::InformInfoRecord, 64, kComponents};

Result<InformInfo> decode_inform_info(std::span<const std::byte> data) {
  ByteReader in(data);
  const InformInfo info = read(in);
  if (!in.ok()) return codec::too_short("InformInfo", data.size());
  return info;
}

void encode_record(const InformInfo& info, std::span<std::byte> data) {
  ByteWriter out(data.first(kInformInfoSize));
  write(info, out);
}

Result<InformInfoRecord> decode_inform_info_record(std::span<const std::byte> data) {
  ByteReader in(data);
  InformInfoRecord record;
  record.subscriber = {.prefix = in.u64(), .guid = Guid{in.u64()}};
  record.number = in.u16();
  in.skip(kInfoAt - 18);
  record.info = read(in);
  if (!in.ok()) return codec::too_short("InformInfoRecord", data.size());
  return record;
}

void encode_record(const InformInfoRecord& record, std::span<std::byte> data) {
  ByteWriter out(data);
  out.u64(record.subscriber.prefix);
  out.u64(record.subscriber.guid.value());
  out.u16(record.number);
  out.zeros(kInfoAt - 18);
  write(record.info, out);
  codec::pad(out, data.size());
}

}  // namespace smd::sa

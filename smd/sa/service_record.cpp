#include "smd/sa/service_record.h"

#include "smd/mad/codec.h"

namespace smd::sa {
namespace {

constexpr std::size_t kHead = 7;

/// The fields before ServiceData, then 16 of 8 bits, 8 of 16, 4 of 32 and 2 of 64.
constexpr std::array<Component, kHead + 30> make_components() {
  std::array<Component, kHead + 30> out{{{0, 0, 64},       // ServiceID
                                         {1, 64, 128},     // ServiceGID
                                         {2, 192, 16},     // ServiceP_Key
                                         {3, 208, 16},     // reserved
                                         {4, 224, 32},     // ServiceLease
                                         {5, 256, 128},    // ServiceKey
                                         {6, 384, 512}}};  // ServiceName
  std::uint8_t bit = kHead;
  std::uint16_t first = 896;
  for (std::uint16_t width = 8; width <= 64; width = static_cast<std::uint16_t>(2 * width)) {
    for (int i = 0; i < 128 / width; ++i, ++bit) {
      out[bit] = {bit, first, width};
      first = static_cast<std::uint16_t>(first + width);
    }
  }
  return out;
}

constexpr std::array kComponents = make_components();

}  // namespace

const RecordShape kServiceRecord{RecordId::ServiceRecord, 176, kComponents};

Result<ServiceRecord> decode_service_record(std::span<const std::byte> data) {
  ByteReader in(data);
  ServiceRecord record;
  record.id = in.u64();
  record.gid = {.prefix = in.u64(), .guid = Guid{in.u64()}};
  record.p_key = PKey{in.u16()};
  in.skip(2);
  record.lease_s = in.u32();
  record.key = in.bytes<16>();
  record.name = in.bytes<64>();
  record.data = in.bytes<64>();
  if (!in.ok()) return codec::too_short("ServiceRecord", data.size());
  return record;
}

void encode_record(const ServiceRecord& record, std::span<std::byte> data) {
  ByteWriter out(data);
  out.u64(record.id);
  out.u64(record.gid.prefix);
  out.u64(record.gid.guid.value());
  out.u16(record.p_key.value());
  out.zeros(2);
  out.u32(record.lease_s);
  out.bytes(record.key);
  out.bytes(record.name);
  out.bytes(record.data);
}

}  // namespace smd::sa

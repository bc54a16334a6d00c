#include "smd/sa/sa_mad.h"

#include "smd/mad/codec.h"

namespace smd::sa {
namespace {

constexpr std::size_t kMadHeaderSize = 24;

}  // namespace

Result<SaHeader> decode_sa_header(std::span<const std::byte> mad) {
  if (mad.size() < kHeaderSize) return codec::too_short("SA header", mad.size());
  SaHeader header{.mad = *decode_mad_header(mad)};
  ByteReader in(mad.subspan(kMadHeaderSize));
  header.rmpp.version = in.u8();
  header.rmpp.type = in.u8();
  const std::uint8_t time_and_flags = in.u8();
  header.rmpp.response_time = codec::bits(time_and_flags, 3, 5);
  header.rmpp.flags = codec::bits(time_and_flags, 0, 3);
  header.rmpp.status = in.u8();
  header.rmpp.segment = in.u32();
  header.rmpp.length = in.u32();
  header.sm_key = SmKey{in.u64()};
  header.attribute_offset = in.u16();
  in.skip(2);
  header.component_mask = in.u64();
  return header;
}

void encode_sa_header(const SaHeader& header, std::span<std::byte> mad) {
  encode_mad_header(header.mad, mad);
  ByteWriter out(mad.subspan(kMadHeaderSize));
  out.u8(header.rmpp.version);
  out.u8(header.rmpp.type);
  out.u8(codec::join(codec::place(header.rmpp.response_time, 3, 5),
                     codec::place(header.rmpp.flags, 0, 3)));
  out.u8(header.rmpp.status);
  out.u32(header.rmpp.segment);
  out.u32(header.rmpp.length);
  out.u64(header.sm_key.value());
  out.u16(header.attribute_offset);
  out.zeros(2);
  out.u64(header.component_mask);
}

std::string_view print_record_id(std::uint16_t id) {
  switch (static_cast<RecordId>(id)) {
    case RecordId::ClassPortInfo:
      return "ClassPortInfo";
    case RecordId::Notice:
      return "Notice";
    case RecordId::InformInfo:
      return "InformInfo";
    case RecordId::NodeRecord:
      return "NodeRecord";
    case RecordId::PortInfoRecord:
      return "PortInfoRecord";
    case RecordId::SlToVlTableRecord:
      return "SLtoVLMappingTableRecord";
    case RecordId::SwitchInfoRecord:
      return "SwitchInfoRecord";
    case RecordId::LftRecord:
      return "LinearForwardingTableRecord";
    case RecordId::RftRecord:
      return "RandomForwardingTableRecord";
    case RecordId::MftRecord:
      return "MulticastForwardingTableRecord";
    case RecordId::SmInfoRecord:
      return "SMInfoRecord";
    case RecordId::LinkRecord:
      return "LinkRecord";
    case RecordId::GuidInfoRecord:
      return "GUIDInfoRecord";
    case RecordId::ServiceRecord:
      return "ServiceRecord";
    case RecordId::PKeyTableRecord:
      return "P_KeyTableRecord";
    case RecordId::PathRecord:
      return "PathRecord";
    case RecordId::VlArbTableRecord:
      return "VLArbitrationTableRecord";
    case RecordId::McMemberRecord:
      return "MCMemberRecord";
    case RecordId::TraceRecord:
      return "TraceRecord";
    case RecordId::MultiPathRecord:
      return "MultiPathRecord";
    case RecordId::InformInfoRecord:
      return "InformInfoRecord";
  }
  return "";
}

std::string_view print_status(Status status) {
  switch (status) {
    case Status::Ok:
      return "ok";
    case Status::Busy:
      return "busy";
    case Status::BadVersion:
      return "bad version";
    case Status::BadMethod:
      return "bad method";
    case Status::BadMethodAttribute:
      return "bad method or attribute";
    case Status::BadField:
      return "bad field";
    case Status::NoResources:
      return "no resources";
    case Status::RequestInvalid:
      return "request invalid";
    case Status::NoRecords:
      return "no records";
    case Status::TooManyRecords:
      return "too many records";
    case Status::InvalidGid:
      return "invalid GID";
    case Status::InsufficientComponents:
      return "insufficient components";
    case Status::Denied:
      return "denied";
  }
  return "other";
}

ComponentFilter::ComponentFilter(const RecordShape& shape,
                                 std::uint64_t mask,
                                 std::span<const std::byte, kDataSize> wanted) {
  for (const Component& component : shape.components) {
    if ((mask & component_bit(component.bit)) == 0) continue;
    for (unsigned bit = component.first; bit < unsigned{component.first} + component.width; ++bit) {
      mask_[bit / 8] |= std::byte{0x80} >> bit % 8;
    }
  }
  for (std::size_t i = 0; i < shape.size; ++i) {
    wanted_[i] = wanted[i] & mask_[i];
    if (mask_[i] != std::byte{0}) used_ = i + 1;
  }
}

bool ComponentFilter::matches(std::span<const std::byte> record) const {
  for (std::size_t i = 0; i < used_; ++i) {
    if ((record[i] & mask_[i]) != wanted_[i]) return false;
  }
  return true;
}

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

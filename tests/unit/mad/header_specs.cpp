// MAD header (IBA 13.4.2) and SMPs (14.2.1).
#include <fmt/core.h>

#include "tests/unit/mad/attribute_specs.h"

namespace smd::spec {
namespace {

template <class Array>
void add_bytes(std::vector<Field<Smp>>& fields,
               const std::string& name,
               Array Smp::*member,
               std::size_t first_byte) {
  for (std::size_t i = 0; i < 64; ++i) {
    fields.push_back(field_by<Smp>(fmt::format("{}[{}]", name, i),
                                   (first_byte + i) * 8,
                                   8,
                                   IB_NO_FIELD,
                                   [member, i](auto& smp) -> auto& { return (smp.*member)[i]; }));
  }
}

Attribute<Smp> smp(bool directed, std::vector<Field<Smp>> fields) {
  fields.push_back(field("method", &Smp::method, 24, 8));
  fields.push_back(field("tid", &Smp::transaction_id, 64, 64, IB_MAD_TRID_F));
  fields.push_back(field("attribute", &Smp::attribute_id, 128, 16, IB_MAD_ATTRID_F));
  fields.push_back(field("modifier", &Smp::attribute_modifier, 160, 32, IB_MAD_ATTRMOD_F));
  fields.push_back(field("m_key", &Smp::m_key, 192, 64, IB_MAD_MKEY_F));
  add_bytes(fields, "data", &Smp::data, 64);
  Attribute<Smp> result{
      .name = "SMP",
      .size = kMadSize,
      .extent = kMadSize,
      .fields = std::move(fields),
      .decode = decode_smp,
      .encode = [](const Smp& s,
                   std::span<std::byte> out) { encode_smp(s, out.first<kMadSize>()); },
      .print = print_smp,
      .base = Smp{.directed = directed},
      .constant = Bytes(kMadSize),
  };
  result.constant[0] = std::byte{1};
  result.constant[1] = directed ? std::byte{0x81} : std::byte{0x01};
  result.constant[2] = std::byte{1};
  return result;
}

}  // namespace

Attribute<MadHeader> mad_header() {
  using H = MadHeader;
  return {
      .name = "MAD header",
      .size = 24,
      .extent = 24,
      .fields = {field("base version", &H::base_version, 0, 8, IB_MAD_BASEVER_F),
                 field("class", &H::mgmt_class, 8, 8, IB_MAD_MGMTCLASS_F),
                 field("class version", &H::class_version, 16, 8, IB_MAD_CLASSVER_F),
                 field("method", &H::method, 24, 8),  // libibmad: two fields, tested apart
                 field("status", &H::status, 32, 16, IB_MAD_STATUS_F),
                 field("class specific", &H::class_specific, 48, 16),
                 field("tid", &H::transaction_id, 64, 64, IB_MAD_TRID_F),
                 field("attribute", &H::attribute_id, 128, 16, IB_MAD_ATTRID_F),
                 field("modifier", &H::attribute_modifier, 160, 32, IB_MAD_ATTRMOD_F)},
      .decode = decode_mad_header,
      .encode = encode_mad_header,
      .print = print_mad_header,
  };
}

Attribute<Smp> directed_smp() {
  std::vector<Field<Smp>> fields{
      field("direction", &Smp::returning, 32, 1, IB_DRSMP_DIRECTION_F),
      field("status", &Smp::status, 33, 15, IB_DRSMP_STATUS_F),
      field("hop pointer", &Smp::hop_pointer, 48, 8, IB_DRSMP_HOPPTR_F),
      // Eight bits, of which the top two must be zero: paths have 64 bytes, the first unused.
      field("hop count", &Smp::hop_count, 58, 6),
      field("drslid", &Smp::dr_slid, 256, 16, IB_DRSMP_DRSLID_F),
      field("drdlid", &Smp::dr_dlid, 272, 16, IB_DRSMP_DRDLID_F)};
  add_bytes(fields, "initial path", &Smp::initial_path, 128);
  add_bytes(fields, "return path", &Smp::return_path, 192);
  return smp(true, std::move(fields));
}

Attribute<Smp> lid_routed_smp() {
  return smp(false, {field("status", &Smp::status, 32, 16, IB_MAD_STATUS_F)});
}

}  // namespace smd::spec

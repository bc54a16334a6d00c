// Table attributes (IBA 14.2.5.5, .7 – .12, .20).
#include <string>

#include "tests/unit/mad/attribute_specs.h"

namespace smd::spec {
namespace {

template <class Block, class Encode>
Attribute<Block> table(std::string name,
                       std::size_t extent,
                       std::vector<Field<Block>> fields,
                       Result<Block> (*decode)(std::span<const std::byte>),
                       Encode encode,
                       std::string (*print)(const Block&)) {
  return {
      .name = std::move(name),
      .size = kSmpDataSize,
      .extent = extent,
      .fields = std::move(fields),
      .decode = decode,
      .encode = [encode](const Block& block,
                         std::span<std::byte> out) { encode(block, out.first<kSmpDataSize>()); },
      .print = print,
  };
}

/// One field per entry, `width` bits each, back to back.
template <class Block>
std::vector<Field<Block>> entries(std::size_t width) {
  std::vector<Field<Block>> fields;
  for (std::size_t i = 0; i < Block{}.size(); ++i) {
    fields.push_back(field_by<Block>(
        "entry " + std::to_string(i), i * width, width, IB_NO_FIELD, [i](auto& block) -> auto& {
          return block[i];
        }));
  }
  return fields;
}

}  // namespace

Attribute<LftBlock> lft_block() {
  return table<LftBlock>("LinearForwardingTable",
                         64,
                         entries<LftBlock>(8),
                         decode_lft_block,
                         encode_lft_block,
                         print_lft_block);
}

Attribute<RftBlock> rft_block() {
  // LID 16, Valid 1, LMC 3, reserved 4, Port 8.
  std::vector<Field<RftBlock>> fields;
  for (std::size_t i = 0; i < kRftBlockSize; ++i) {
    const std::string entry = "entry " + std::to_string(i);
    const std::size_t at = i * 32;
    fields.push_back(field_by<RftBlock>(
        entry + " lid", at, 16, IB_NO_FIELD, [i](auto& b) -> auto& { return b[i].lid; }));
    fields.push_back(field_by<RftBlock>(
        entry + " valid", at + 16, 1, IB_NO_FIELD, [i](auto& b) -> auto& { return b[i].valid; }));
    fields.push_back(field_by<RftBlock>(
        entry + " lmc", at + 17, 3, IB_NO_FIELD, [i](auto& b) -> auto& { return b[i].lmc; }));
    fields.push_back(field_by<RftBlock>(
        entry + " port", at + 24, 8, IB_NO_FIELD, [i](auto& b) -> auto& { return b[i].port; }));
  }
  return table<RftBlock>("RandomForwardingTable",
                         64,
                         std::move(fields),
                         decode_rft_block,
                         encode_rft_block,
                         print_rft_block);
}

Attribute<MftBlock> mft_block() {
  return table<MftBlock>("MulticastForwardingTable",
                         64,
                         entries<MftBlock>(16),
                         decode_mft_block,
                         encode_mft_block,
                         print_mft_block);
}

Attribute<PKeyBlock> p_key_block() {
  return table<PKeyBlock>("P_KeyTable",
                          64,
                          entries<PKeyBlock>(16),
                          decode_p_key_block,
                          encode_p_key_block,
                          print_p_key_block);
}

Attribute<SlToVl> sl_to_vl() {
  return table<SlToVl>("SLtoVLMappingTable",
                       8,
                       entries<SlToVl>(4),
                       decode_sl_to_vl,
                       encode_sl_to_vl,
                       print_sl_to_vl);
}

Attribute<PortStateBlock> port_state_block() {
  return table<PortStateBlock>("SwitchPortStateTable",
                               64,
                               entries<PortStateBlock>(4),
                               decode_port_state_block,
                               encode_port_state_block,
                               print_port_state_block);
}

Attribute<VlArbBlock> vl_arb_block() {
  // Reserved 4, VL 4, Weight 8.
  std::vector<Field<VlArbBlock>> fields;
  for (std::size_t i = 0; i < kVlArbBlockSize; ++i) {
    const std::string entry = "entry " + std::to_string(i);
    fields.push_back(field_by<VlArbBlock>(
        entry + " vl", i * 16 + 4, 4, IB_NO_FIELD, [i](auto& b) -> auto& { return b[i].vl; }));
    fields.push_back(
        field_by<VlArbBlock>(entry + " weight", i * 16 + 8, 8, IB_NO_FIELD, [i](auto& b) -> auto& {
          return b[i].weight;
        }));
  }
  return table<VlArbBlock>("VLArbitrationTable",
                           64,
                           std::move(fields),
                           decode_vl_arb_block,
                           encode_vl_arb_block,
                           print_vl_arb_block);
}

Attribute<GuidBlock> guid_block() {
  constexpr MAD_FIELDS kNames[] = {IB_GI_GUID0_F,
                                   IB_GI_GUID1_F,
                                   IB_GI_GUID2_F,
                                   IB_GI_GUID3_F,
                                   IB_GI_GUID4_F,
                                   IB_GI_GUID5_F,
                                   IB_GI_GUID6_F,
                                   IB_GI_GUID7_F};
  std::vector<Field<GuidBlock>> fields = entries<GuidBlock>(64);
  for (std::size_t i = 0; i < fields.size(); ++i) fields[i].libibmad = kNames[i];
  return table<GuidBlock>(
      "GUIDInfo", 64, std::move(fields), decode_guid_block, encode_guid_block, print_guid_block);
}

}  // namespace smd::spec

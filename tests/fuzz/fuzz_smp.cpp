// A whole SMP, then its data as the attribute that its id names.
#include "smd/mad/smp.h"

#include "smd/mad/node_info.h"
#include "smd/mad/port_info.h"
#include "smd/mad/tables.h"
#include "smd/mad/vendor.h"
#include "tests/fuzz/decode_checks.h"

namespace smd::fuzz {
namespace {

template <class Decode, class Encode, class Print>
void check_attribute(const SmpData& data, Decode decode, Encode encode, Print print) {
  check_codec(
      data,
      kSmpDataSize,
      decode,
      [encode](const auto& value, std::span<std::byte> out) {
        encode(value, out.first<kSmpDataSize>());
      },
      print);
}

// A description may be empty, which a line may not.
std::string print_text(const std::string& text) { return '"' + print_node_description(text) + '"'; }

void check_data(const Smp& smp) {
  const SmpData& data = smp.data;
  switch (static_cast<AttributeId>(smp.attribute_id)) {
    case AttributeId::NodeDescription:
      check_attribute(data, decode_node_description, encode_node_description, print_text);
      break;
    case AttributeId::NodeInfo:
      check_attribute(data, decode_node_info, encode_node_info, print_node_info);
      break;
    case AttributeId::SwitchInfo:
      check_attribute(data, decode_switch_info, encode_switch_info, print_switch_info);
      break;
    case AttributeId::GuidInfo:
      check_attribute(data, decode_guid_block, encode_guid_block, print_guid_block);
      break;
    case AttributeId::PortInfo:
      check_attribute(data, decode_port_info, encode_port_info, print_port_info);
      break;
    case AttributeId::PKeyTable:
      check_attribute(data, decode_p_key_block, encode_p_key_block, print_p_key_block);
      break;
    case AttributeId::SlToVlMappingTable:
      check_attribute(data, decode_sl_to_vl, encode_sl_to_vl, print_sl_to_vl);
      break;
    case AttributeId::VlArbitrationTable:
      check_attribute(data, decode_vl_arb_block, encode_vl_arb_block, print_vl_arb_block);
      break;
    case AttributeId::LinearForwardingTable:
      check_attribute(data, decode_lft_block, encode_lft_block, print_lft_block);
      break;
    case AttributeId::RandomForwardingTable:
      check_attribute(data, decode_rft_block, encode_rft_block, print_rft_block);
      break;
    case AttributeId::MulticastForwardingTable:
      check_attribute(data, decode_mft_block, encode_mft_block, print_mft_block);
      break;
    case AttributeId::SwitchPortStateTable:
      check_attribute(
          data, decode_port_state_block, encode_port_state_block, print_port_state_block);
      break;
    case AttributeId::SmInfo:
      check_attribute(data, decode_sm_info, encode_sm_info, print_sm_info);
      break;
    case AttributeId::ExtendedPortInfo:
      check_attribute(
          data, decode_extended_port_info, encode_extended_port_info, print_extended_port_info);
      break;
    case AttributeId::GeneralInfo:
      check_attribute(data, decode_general_info, encode_general_info, print_general_info);
      break;
    case AttributeId::AdaptiveRoutingInfo:
      check_attribute(data,
                      decode_adaptive_routing_info,
                      encode_adaptive_routing_info,
                      print_adaptive_routing_info);
      break;
    case AttributeId::PrivateLftInfo:
      check_attribute(
          data, decode_private_lft_info, encode_private_lft_info, print_private_lft_info);
      break;
    case AttributeId::ClassPortInfo:
    case AttributeId::Notice:  // fuzz_notice
      break;
  }
}

void check_modifiers(std::uint32_t bits) {
  const auto port_info = decode_port_info_modifier(bits);
  require(decode_port_info_modifier(encode_modifier(port_info)) == port_info);
  const auto sl_to_vl = decode_sl_to_vl_modifier(bits);
  require(decode_sl_to_vl_modifier(encode_modifier(sl_to_vl)) == sl_to_vl);
  const auto arbitration = decode_vl_arb_modifier(bits);
  require(decode_vl_arb_modifier(encode_modifier(arbitration)) == arbitration);
  const auto multicast = decode_mft_modifier(bits);
  require(decode_mft_modifier(encode_modifier(multicast)) == multicast);
  const auto p_key = decode_p_key_modifier(bits);
  require(decode_p_key_modifier(encode_modifier(p_key)) == p_key);
}

}  // namespace
}  // namespace smd::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace smd;
  const auto bytes = fuzz::as_bytes(data, size);
  fuzz::check_codec(
      bytes,
      kMadSize,
      decode_smp,
      [](const Smp& smp, std::span<std::byte> out) { encode_smp(smp, out.first<kMadSize>()); },
      print_smp);
  if (const Result<Smp> smp = decode_smp(bytes)) {
    fuzz::check_data(*smp);
    fuzz::check_modifiers(smp->attribute_modifier);
  }
  return 0;
}

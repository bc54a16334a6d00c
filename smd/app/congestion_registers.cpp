#include "smd/app/congestion_registers.h"

namespace smd::app {
namespace {

using cc::Attribute;

/// Calls `visit` with the register of a request and its codec.
template <class Registers, class Visit>
void visit_register(Registers& of, const CcRequest& request, Visit visit) {
  switch (request.attribute) {
    case Attribute::CongestionKeyInfo:
      return visit(of.key, cc::decode_key_info, cc::encode_key_info);
    case Attribute::ClassPortInfo:
      return visit(of.traps, cc::decode_class_port_info, cc::encode_class_port_info);
    case Attribute::SwitchCongestionSetting:
      return visit(of.of_switch, cc::decode_switch_setting, cc::encode_switch_setting);
    case Attribute::SwitchPortCongestionSetting:
      if (request.modifier < of.of_ports.size())
        visit(of.of_ports[request.modifier], cc::decode_port_settings, cc::encode_port_settings);
      return;
    case Attribute::CaCongestionSetting:
      return visit(of.of_adapter, cc::decode_ca_setting, cc::encode_ca_setting);
    default:
      if (request.modifier < of.table.size())
        visit(of.table[request.modifier], cc::decode_cct_block, cc::encode_cct_block);
      return;
  }
}

}  // namespace

MadBytes make_cc_mad(const CcRequest& request, cc::CcKey key) {
  MadBytes mad{};
  encode_mad_header({.mgmt_class = static_cast<std::uint8_t>(MgmtClass::CongestionControl),
                     .class_version = cc::kClassVersion,
                     .method = static_cast<std::uint8_t>(request.set ? Method::Set : Method::Get),
                     .attribute_id = static_cast<std::uint16_t>(request.attribute),
                     .attribute_modifier = request.modifier},
                    mad);
  cc::write_key(key, mad);
  return mad;
}

void CcRegisters::take(const CcRequest& request, const MadBytes& answer) {
  const auto data = std::span(answer).subspan(cc::kDataOffset);
  visit_register(*this, request, [&](auto& reg, auto decode, auto) { reg.held = *decode(data); });
}

void CcRegisters::write(const CcRequest& request, MadBytes& mad) const {
  const cc::Data data = std::span<std::byte, kMadSize>(mad).subspan<cc::kDataOffset>();
  visit_register(
      *this, request, [&](const auto& reg, auto, auto encode) { encode(*reg.asked, data); });
}

void CcRegisters::unread(const CcRequest& request) {
  visit_register(*this, request, [](auto& reg, auto, auto) { reg.held.reset(); });
}

void CcRegisters::give_up(const CcRequest& request) {
  visit_register(*this, request, [](auto& reg, auto, auto) { reg.given_up = true; });
}

void CcRegisters::try_all() {
  key.given_up = traps.given_up = of_switch.given_up = of_adapter.given_up = false;
  for (auto& block : of_ports) block.given_up = false;
  for (auto& block : table) block.given_up = false;
}

}  // namespace smd::app

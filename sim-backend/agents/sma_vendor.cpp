// Attributes of Mellanox: smd/mad/vendor.h.
#include "smd/mad/vendor.h"

#include "sim-backend/agents/sma_attributes.h"

namespace smd::sim {
namespace {

bool has_adaptive_routing(const NodeState& node) {
  return node.options.adaptive_routing && node.is_switch() && node.info.vendor_id == kMellanox;
}

}  // namespace

MadStatus answer_extended_port_info(const SmaRequest& request, Smp& smp) {
  NodeState& node = request.node;
  if (node.info.vendor_id != kMellanox || smp.method != Method::Get) {
    return MadStatus::BadMethodAttribute;
  }
  if (smp.attribute_modifier > node.num_ports()) return MadStatus::BadField;
  PortNum number{static_cast<std::uint8_t>(smp.attribute_modifier)};
  if (!node.is_switch() && number.value() == 0) number = request.arrival;
  const PortRegs& port = node.ports[number.value()];
  encode_extended_port_info(
      {.link_speed_supported = port.fdr10_supported ? std::uint8_t{1} : std::uint8_t{0},
       .link_speed_enabled = port.fdr10 ? std::uint8_t{1} : std::uint8_t{0},
       .link_speed_active = port.fdr10_active ? std::uint8_t{1} : std::uint8_t{0}},
      smp.data);
  return MadStatus::Ok;
}

MadStatus answer_general_info(const SmaRequest& request, Smp& smp) {
  if (!has_adaptive_routing(request.node) || smp.method != Method::Get)
    return MadStatus::BadMethodAttribute;
  if (smp.attribute_modifier != kCapabilityMaskModifier) return MadStatus::BadField;
  GeneralInfo info;
  info.capability_mask[0] = 1u << general_cap::kPrivateLft | 1u << general_cap::kAdaptiveRouting;
  encode_general_info(info, smp.data);
  return MadStatus::Ok;
}

MadStatus answer_adaptive_routing_info(const SmaRequest& request, Smp& smp) {
  NodeState& node = request.node;
  if (!has_adaptive_routing(node)) return MadStatus::BadMethodAttribute;
  if (smp.method == Method::Set) node.adaptive_routing = *decode_adaptive_routing_info(smp.data);
  encode_adaptive_routing_info(node.adaptive_routing, smp.data);
  return MadStatus::Ok;
}

MadStatus answer_private_lft_info(const SmaRequest& request, Smp& smp) {
  NodeState& node = request.node;
  if (!has_adaptive_routing(node)) return MadStatus::BadMethodAttribute;
  if (smp.method == Method::Set) node.private_lft = *decode_private_lft_info(smp.data);
  encode_private_lft_info(node.private_lft, smp.data);
  return MadStatus::Ok;
}

}  // namespace smd::sim

#include "sim-backend/agents/sma.h"

#include "sim-backend/agents/sma_attributes.h"

namespace smd::sim {
namespace {

MadStatus answer_node_description(const SmaRequest& request, Smp& smp) {
  if (smp.method != Method::Get) return MadStatus::BadMethodAttribute;
  encode_node_description(request.node.description, smp.data);
  return MadStatus::Ok;
}

MadStatus answer_node_info(const SmaRequest& request, Smp& smp) {
  if (smp.method != Method::Get) return MadStatus::BadMethodAttribute;
  NodeInfo info = request.node.info;
  info.local_port = request.arrival;
  info.port_guid = request.node.management_port(request.arrival).guid;
  encode_node_info(info, smp.data);
  return MadStatus::Ok;
}

MadStatus answer(const SmaRequest& request, Smp& smp) {
  switch (static_cast<AttributeId>(smp.attribute_id)) {
    case AttributeId::NodeDescription:
      return answer_node_description(request, smp);
    case AttributeId::NodeInfo:
      return answer_node_info(request, smp);
    case AttributeId::SwitchInfo:
      return answer_switch_info(request, smp);
    case AttributeId::PortInfo:
      return answer_port_info(request, smp);
    case AttributeId::SwitchPortStateTable:
      return answer_port_state_table(request, smp);
    case AttributeId::GuidInfo:
      return answer_guid_info(request, smp);
    case AttributeId::PKeyTable:
      return answer_p_key_table(request, smp);
    case AttributeId::SlToVlMappingTable:
      return answer_sl_to_vl(request, smp);
    case AttributeId::VlArbitrationTable:
      return answer_vl_arbitration(request, smp);
    case AttributeId::LinearForwardingTable:
      return answer_lft(request, smp);
    case AttributeId::RandomForwardingTable:
      return answer_rft(request, smp);
    case AttributeId::MulticastForwardingTable:
      return answer_mft(request, smp);
    case AttributeId::ExtendedPortInfo:
      return answer_extended_port_info(request, smp);
    case AttributeId::GeneralInfo:
      return answer_general_info(request, smp);
    case AttributeId::AdaptiveRoutingInfo:
      return answer_adaptive_routing_info(request, smp);
    case AttributeId::PrivateLftInfo:
      return answer_private_lft_info(request, smp);
    default:
      return MadStatus::BadMethodAttribute;
  }
}

}  // namespace

void answer_smp(const SmaRequest& request, Smp& smp) {
  const bool known = smp.method == Method::Get || smp.method == Method::Set;
  const MadStatus status = known ? answer(request, smp) : MadStatus::BadMethod;
  smp.method = Method::GetResp;
  smp.status = static_cast<std::uint16_t>(status);
  smp.returning = smp.directed;
}

}  // namespace smd::sim

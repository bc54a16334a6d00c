#include "sim-backend/agents/cca.h"

#include <utility>

#include "sim-backend/agents/cc_key.h"
#include "sim-backend/agents/cca_attributes.h"

namespace smd::sim {
namespace {

using namespace cca;

MadStatus answer_class_port_info(const Call& call) {
  MadStatus status = MadStatus::Ok;
  if (call.set) {
    const cc::ClassPortInfo asked = *cc::decode_class_port_info(call.data());
    if (asked.trap_lid == kUnassignedLid || is_unicast(asked.trap_lid)) {
      call.state.traps_to = asked;
    } else {
      status = MadStatus::BadField;
    }
  }
  cc::ClassPortInfo out = call.state.traps_to;
  out.base_version = 1;
  out.class_version = cc::kClassVersion;
  out.capability_mask = call.node().options.traps ? cc::kIsTrapSupported : std::uint16_t{0};
  out.capability_mask2 = 0;
  out.resp_time_value = call.node().management_port(call.request.arrival).info.resp_time_value;
  cc::encode_class_port_info(out, call.data());
  return status;
}

MadStatus answer_info(const Call& call) {
  if (call.set) return MadStatus::BadMethodAttribute;
  const AgentOptions& options = call.node().options;
  cc::encode_congestion_info(
      {.flags = static_cast<std::uint16_t>(options.credit_starvation ? 1 : 0),
       .table_blocks = call.node().is_switch() ? std::uint8_t{0} : options.cct_blocks},
      call.data());
  return MadStatus::Ok;
}

MadStatus answer_key_info(const Call& call) {
  if (call.set) call.state.key = *cc::decode_key_info(call.data());
  cc::KeyInfo shown = call.state.key;
  if (call.hide_key) shown.key = {};
  cc::encode_key_info(shown, call.data());
  return MadStatus::Ok;
}

/// Reading a log empties it.
MadStatus answer_log(const Call& call) {
  if (call.set) return MadStatus::BadMethodAttribute;
  const std::uint32_t now = congestion_ticks(call.request.now);
  if (call.node().is_switch()) {
    cc::SwitchLog log = std::exchange(call.state.switch_log, {});
    log.time = now;
    cc::encode_switch_log(log, call.log_data());
  } else {
    cc::CaLog log = std::exchange(call.state.ca_log, {});
    log.time = now;
    cc::encode_ca_log(log, call.log_data());
  }
  return MadStatus::Ok;
}

MadStatus answer_time_stamp(const Call& call) {
  if (call.set) return MadStatus::BadMethodAttribute;
  cc::encode_time_stamp({.value = congestion_ticks(call.request.now)}, call.data());
  return MadStatus::Ok;
}

MadStatus answer(const Call& call, std::uint16_t attribute) {
  switch (static_cast<cc::Attribute>(attribute)) {
    case cc::Attribute::ClassPortInfo:
      return answer_class_port_info(call);
    case cc::Attribute::CongestionInfo:
      return answer_info(call);
    case cc::Attribute::CongestionKeyInfo:
      return answer_key_info(call);
    case cc::Attribute::CongestionLog:
      return answer_log(call);
    case cc::Attribute::SwitchCongestionSetting:
      return answer_switch_setting(call);
    case cc::Attribute::SwitchPortCongestionSetting:
      return answer_port_settings(call);
    case cc::Attribute::CaCongestionSetting:
      return answer_ca_setting(call);
    case cc::Attribute::CongestionControlTable:
      return answer_table(call);
    case cc::Attribute::TimeStamp:
      return answer_time_stamp(call);
    case cc::Attribute::Notice:
      break;
  }
  return MadStatus::BadMethodAttribute;
}

}  // namespace

CcaResult answer_congestion(const CcaRequest& request, MadBytes& mad) {
  MadHeader header = *decode_mad_header(mad);
  CongestionState& state = request.node.congestion_regs(request.arrival);
  const CcKeyVerdict verdict = check_cc_key(state, header, cc::read_key(mad), request.now);
  if (verdict == CcKeyVerdict::Refuse) return CcaResult::Refused;

  const bool set = header.method == static_cast<std::uint8_t>(Method::Set);
  MadStatus status = MadStatus::BadMethod;
  bool changed = false;
  if (header.class_version != cc::kClassVersion) {
    status = MadStatus::BadVersion;
  } else if (set || header.method == static_cast<std::uint8_t>(Method::Get)) {
    const bool deaf = request.node.options.congestion == CongestionSupport::Deaf;
    CongestionState scratch = set ? state : CongestionState{};
    status = answer({.request = request,
                     .state = set ? scratch : state,
                     .set = set,
                     .hide_key = verdict == CcKeyVerdict::PassHidden,
                     .modifier = header.attribute_modifier,
                     .mad = mad},
                    header.attribute_id);
    changed = set && !deaf && scratch != state;
    if (changed) state = std::move(scratch);
  }
  header.status = static_cast<std::uint16_t>(status);
  header.method = static_cast<std::uint8_t>(Method::GetResp);
  encode_mad_header(header, mad);
  return changed ? CcaResult::Changed : CcaResult::Answered;
}

}  // namespace smd::sim

#include "sim-backend/agents/cca.h"

#include <algorithm>
#include <utility>

#include "sim-backend/agents/cc_key.h"

namespace smd::sim {
namespace {

constexpr std::uint32_t kCreditFields = cc::control::kCreditMask | cc::control::kCreditStarvation;
constexpr std::uint64_t kNsPerTick = 1024;

/// One request: the registers it is about, and where its attribute lies.
struct Call {
  const CcaRequest& request;
  CongestionState& state;
  bool set;
  bool hide_key;
  std::uint32_t modifier;
  MadBytes& mad;

  [[nodiscard]] cc::Data data() const {
    return std::span<std::byte, kMadSize>(mad).subspan<cc::kDataOffset>();
  }

  [[nodiscard]] cc::LogData log_data() const {
    return std::span<std::byte, kMadSize>(mad).subspan<cc::kLogOffset>();
  }

  [[nodiscard]] const NodeState& node() const { return request.node; }
};

std::uint32_t ticks(TimePoint now) {
  return static_cast<std::uint32_t>(static_cast<std::uint64_t>(now.since_epoch.count()) /
                                    kNsPerTick);
}

std::size_t capacity(const NodeState& node) {
  return std::size_t{node.options.cct_blocks} * cc::kCctBlockSize;
}

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
  const std::uint32_t now = ticks(call.request.now);
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

MadStatus write_switch_setting(const Call& call, const cc::SwitchSetting& asked) {
  constexpr std::uint32_t kKnown = 0x1f;
  const std::uint32_t map = asked.control_map;
  if ((map & ~kKnown) != 0) return MadStatus::BadField;
  if ((map & kCreditFields) != 0 && !call.node().options.credit_starvation) {
    return MadStatus::BadField;
  }
  cc::SwitchSetting& own = call.state.switch_setting;
  own.control_map = map;
  if ((map & cc::control::kVictimMask) != 0) own.victim_mask = asked.victim_mask;
  if ((map & cc::control::kCreditMask) != 0) own.credit_mask = asked.credit_mask;
  if ((map & cc::control::kThreshold) != 0) {
    own.threshold = asked.threshold;
    own.packet_size = asked.packet_size;
  }
  if ((map & cc::control::kCreditStarvation) != 0) {
    own.cs_threshold = asked.cs_threshold;
    own.cs_return_delay = asked.cs_return_delay;
  }
  if ((map & cc::control::kMarkingRate) != 0) own.marking_rate = asked.marking_rate;
  return MadStatus::Ok;
}

MadStatus answer_switch_setting(const Call& call) {
  if (!call.node().is_switch()) return MadStatus::BadMethodAttribute;
  const MadStatus status = call.set
                               ? write_switch_setting(call, *cc::decode_switch_setting(call.data()))
                               : MadStatus::Ok;
  cc::encode_switch_setting(call.state.switch_setting, call.data());
  return status;
}

MadStatus write_port_settings(const Call& call, const cc::PortSettingBlock& asked) {
  const std::size_t first = call.modifier * cc::kPortBlockSize;
  const std::size_t ports = call.node().ports.size();
  for (std::size_t i = 0; i < asked.size(); ++i) {
    if (!asked[i].valid) continue;
    if (first + i >= ports) return MadStatus::BadField;
    if (asked[i].starvation && !call.node().options.credit_starvation) return MadStatus::BadField;
  }
  std::vector<cc::PortSetting>& own = call.state.port_settings;
  own.resize(ports);
  for (std::size_t i = 0; i < asked.size() && first + i < ports; ++i) own[first + i] = asked[i];
  return MadStatus::Ok;
}

MadStatus answer_port_settings(const Call& call) {
  if (!call.node().is_switch()) return MadStatus::BadMethodAttribute;
  if (call.modifier > call.node().num_ports() / cc::kPortBlockSize) return MadStatus::BadField;
  const MadStatus status =
      call.set ? write_port_settings(call, *cc::decode_port_settings(call.data())) : MadStatus::Ok;
  cc::PortSettingBlock block{};
  const std::vector<cc::PortSetting>& own = call.state.port_settings;
  const std::size_t first = call.modifier * cc::kPortBlockSize;
  for (std::size_t i = 0; i < block.size() && first + i < own.size(); ++i)
    block[i] = own[first + i];
  cc::encode_port_settings(block, call.data());
  return status;
}

/// An index must lie in the table as it may become, not as it is: tables are often written later.
MadStatus write_ca_setting(const Call& call, const cc::CaSetting& asked) {
  constexpr std::uint16_t kKnown = 1;
  if ((asked.port_control & ~kKnown) != 0) return MadStatus::BadField;
  for (std::size_t sl = 0; sl < cc::kSls; ++sl) {
    if ((asked.control_map >> sl & 1u) == 0) continue;
    if (asked.entries[sl].min >= capacity(call.node())) return MadStatus::BadField;
  }
  cc::CaSetting& own = call.state.ca_setting;
  own.port_control = asked.port_control;
  own.control_map = asked.control_map;
  for (std::size_t sl = 0; sl < cc::kSls; ++sl) {
    if ((asked.control_map >> sl & 1u) != 0) own.entries[sl] = asked.entries[sl];
  }
  return MadStatus::Ok;
}

MadStatus answer_ca_setting(const Call& call) {
  if (call.node().is_switch()) return MadStatus::BadMethodAttribute;
  const MadStatus status =
      call.set ? write_ca_setting(call, *cc::decode_ca_setting(call.data())) : MadStatus::Ok;
  cc::encode_ca_setting(call.state.ca_setting, call.data());
  return status;
}

MadStatus write_table(const Call& call, const cc::CctBlock& asked) {
  if (asked.limit >= capacity(call.node())) return MadStatus::BadField;
  call.state.ccti_limit = asked.limit;
  call.state.table.resize(capacity(call.node()));
  const std::size_t first = call.modifier * cc::kCctBlockSize;
  std::ranges::copy(asked.entries, call.state.table.begin() + static_cast<std::ptrdiff_t>(first));
  return MadStatus::Ok;
}

MadStatus answer_table(const Call& call) {
  if (call.node().is_switch()) return MadStatus::BadMethodAttribute;
  if (call.modifier >= call.node().options.cct_blocks) return MadStatus::BadField;
  const MadStatus status =
      call.set ? write_table(call, *cc::decode_cct_block(call.data())) : MadStatus::Ok;
  cc::CctBlock block{.limit = call.state.ccti_limit};
  const std::size_t first = call.modifier * cc::kCctBlockSize;
  for (std::size_t i = 0; i < block.entries.size(); ++i) {
    block.entries[i] = call.state.delay_at(first + i);
  }
  cc::encode_cct_block(block, call.data());
  return status;
}

MadStatus answer_time_stamp(const Call& call) {
  if (call.set) return MadStatus::BadMethodAttribute;
  cc::encode_time_stamp({.value = ticks(call.request.now)}, call.data());
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

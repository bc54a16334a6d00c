#include "sim-backend/agents/cca_attributes.h"

namespace smd::sim::cca {
namespace {

constexpr std::uint32_t kCreditFields = cc::control::kCreditMask | cc::control::kCreditStarvation;

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

}  // namespace

MadStatus answer_switch_setting(const Call& call) {
  if (!call.node().is_switch()) return MadStatus::BadMethodAttribute;
  const MadStatus status = call.set
                               ? write_switch_setting(call, *cc::decode_switch_setting(call.data()))
                               : MadStatus::Ok;
  cc::encode_switch_setting(call.state.switch_setting, call.data());
  return status;
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

}  // namespace smd::sim::cca

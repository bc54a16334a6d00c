// PortInfo and the port state machine (IBA 14.2.5.6, 7.2.7).
#include "sim-backend/agents/sma_attributes.h"
#include "smd/mad/port_info.h"
#include "smd/mad/tables.h"

namespace smd::sim {
namespace {

constexpr std::uint8_t kAllWidths = 255;
constexpr std::uint8_t kAllSpeeds = 15;
constexpr std::uint8_t kAllExtendedSpeeds = 31;
constexpr std::uint8_t kNoExtendedSpeeds = 30;

constexpr auto code(PortState state) { return static_cast<std::uint8_t>(state); }

constexpr auto code(PhysState state) { return static_cast<std::uint8_t>(state); }

/// Down is always possible; Armed follows Initialize, Active follows Armed (or, one step,
/// Initialize); the rest is the hardware's.
bool state_allowed(PortState from, std::uint8_t to, bool one_step) {
  switch (static_cast<PortState>(to)) {
    case PortState::NoChange:
    case PortState::Down:
      return true;
    case PortState::Armed:
      return from == PortState::Initialize;
    case PortState::Active:
      return from == PortState::Armed || (one_step && from == PortState::Initialize);
    default:
      return false;
  }
}

bool phys_allowed(std::uint8_t to) {
  return to == code(PhysState::NoChange) || to == code(PhysState::Sleep) ||
         to == code(PhysState::Polling) || to == code(PhysState::Disabled);
}

bool subset(std::uint8_t wanted, std::uint8_t supported) {
  return wanted != 0 && (wanted & ~supported) == 0;
}

/// 0 means "no change"; a LID that is there may be written again.
bool lid_allowed(Lid wanted, Lid current) { return wanted == current || is_unicast(wanted); }

/// Fields of a management port: of an adapter, a router, or a switch's port 0.
bool management_fields_allowed(const PortInfo& regs, const PortInfo& wanted, bool base_port0) {
  if (!lid_allowed(wanted.lid, regs.lid)) return false;
  if (!lid_allowed(wanted.master_sm_lid, regs.master_sm_lid)) return false;
  if (base_port0 && wanted.lmc != 0) return false;
  return (wanted.lid.value() & ((1u << wanted.lmc) - 1)) == 0;
}

/// Fields of a port with a link. Base port 0 has none.
bool link_fields_allowed(const PortInfo& regs, const PortInfo& wanted, bool one_step) {
  if (!state_allowed(regs.state(), wanted.port_state, one_step)) return false;
  if (!phys_allowed(wanted.port_physical_state)) return false;
  if (wanted.link_down_default_state > code(PhysState::Polling)) return false;
  if (wanted.neighbor_mtu > regs.mtu_cap) return false;
  if (wanted.operational_vls > regs.vl_cap) return false;
  if (wanted.link_width_enabled != 0 && wanted.link_width_enabled != kAllWidths &&
      !subset(wanted.link_width_enabled, regs.link_width_supported)) {
    return false;
  }
  if (wanted.link_speed_enabled != 0 && wanted.link_speed_enabled != kAllSpeeds &&
      !subset(wanted.link_speed_enabled, regs.link_speed_supported)) {
    return false;
  }
  if (wanted.link_speed_ext_enabled != 0 && wanted.link_speed_ext_enabled != kNoExtendedSpeeds &&
      wanted.link_speed_ext_enabled != kAllExtendedSpeeds &&
      !subset(wanted.link_speed_ext_enabled, regs.link_speed_ext_supported)) {
    return false;
  }
  return wanted.link_speed_ext2_enabled == 0 ||
         subset(wanted.link_speed_ext2_enabled, regs.link_speed_ext2_supported);
}

void apply_management_fields(PortRegs& port, const PortInfo& wanted) {
  PortInfo& regs = port.info;
  if (regs.m_key != wanted.m_key || wanted.m_key_lease_period == 0) port.lease_end = {};
  regs.m_key = wanted.m_key;
  regs.m_key_lease_period = wanted.m_key_lease_period;
  regs.m_key_protect_bits = wanted.m_key_protect_bits;
  regs.gid_prefix = wanted.gid_prefix;
  regs.lid = wanted.lid;
  regs.lmc = wanted.lmc;
  regs.master_sm_lid = wanted.master_sm_lid;
  regs.master_sm_sl = wanted.master_sm_sl;
  regs.subnet_timeout = wanted.subnet_timeout;
  regs.multicast_pkey_trap_suppression = wanted.multicast_pkey_trap_suppression;
  if (wanted.m_key_violations == 0) regs.m_key_violations = 0;
  if (wanted.q_key_violations == 0) regs.q_key_violations = 0;
}

void apply_link_fields(PortInfo& regs, const PortInfo& wanted) {
  if (wanted.link_width_enabled == kAllWidths) {
    regs.link_width_enabled = regs.link_width_supported;
  } else if (wanted.link_width_enabled != 0) {
    regs.link_width_enabled = wanted.link_width_enabled;
  }
  if (wanted.link_speed_enabled == kAllSpeeds) {
    regs.link_speed_enabled = regs.link_speed_supported;
  } else if (wanted.link_speed_enabled != 0) {
    regs.link_speed_enabled = wanted.link_speed_enabled;
  }
  if (wanted.link_speed_ext_enabled == kAllExtendedSpeeds) {
    regs.link_speed_ext_enabled = regs.link_speed_ext_supported;
  } else if (wanted.link_speed_ext_enabled != 0) {
    regs.link_speed_ext_enabled = wanted.link_speed_ext_enabled;
  }
  if (wanted.link_speed_ext2_enabled != 0) {
    regs.link_speed_ext2_enabled = wanted.link_speed_ext2_enabled;
  }
  if (wanted.link_down_default_state != 0) {
    regs.link_down_default_state = wanted.link_down_default_state;
  }
  if (wanted.neighbor_mtu != 0) regs.neighbor_mtu = wanted.neighbor_mtu;
  if (wanted.operational_vls != 0) regs.operational_vls = wanted.operational_vls;
  regs.vl_high_limit = wanted.vl_high_limit;
  regs.vl_stall_count = wanted.vl_stall_count;
  regs.hoq_life = wanted.hoq_life;
  regs.init_type = wanted.init_type;
  regs.partition_enforcement_inbound = wanted.partition_enforcement_inbound;
  regs.partition_enforcement_outbound = wanted.partition_enforcement_outbound;
  regs.filter_raw_inbound = wanted.filter_raw_inbound;
  regs.filter_raw_outbound = wanted.filter_raw_outbound;
  regs.local_phy_errors = wanted.local_phy_errors;
  regs.overrun_errors = wanted.overrun_errors;
  if (wanted.p_key_violations == 0) regs.p_key_violations = 0;
}

/// Requires: allowed. Enhanced port 0 has the states but no wire.
void apply_state(const SmaRequest& request, PortNum number, const PortInfo& wanted) {
  PortInfo& regs = request.node.ports[number.value()].info;
  const auto phys = static_cast<PhysState>(wanted.port_physical_state);
  const auto state = static_cast<PortState>(wanted.port_state);
  if (state == PortState::Armed || state == PortState::Active) regs.port_state = code(state);
  if (number.value() == 0) {
    if (state == PortState::Down) regs.port_state = code(PortState::Initialize);
    return;
  }
  if (phys == PhysState::Sleep || phys == PhysState::Disabled) {
    regs.port_physical_state = code(phys);
    request.link.take_down(number);
  } else if (phys == PhysState::Polling || state == PortState::Down) {
    const bool kept_down = regs.port_physical_state == code(PhysState::Sleep) ||
                           regs.port_physical_state == code(PhysState::Disabled);
    // Down alone does not wake a port that was disabled.
    if (!kept_down || phys == PhysState::Polling) {
      if (kept_down) regs.port_physical_state = code(PhysState::Polling);
      request.link.retrain(number);
    }
  }
}

bool apply_set(const SmaRequest& request, PortNum number, const PortInfo& wanted) {
  NodeState& node = request.node;
  PortRegs& port = node.ports[number.value()];
  const bool management = !node.is_switch() || number.value() == 0;
  const bool base_port0 =
      node.is_switch() && number.value() == 0 && !node.switch_info.enhanced_port0;
  if (management && !management_fields_allowed(port.info, wanted, base_port0)) return false;
  if (!base_port0 && !link_fields_allowed(port.info, wanted, node.options.one_step_activation)) {
    return false;
  }
  if (management) apply_management_fields(port, wanted);
  if (base_port0) return true;
  apply_link_fields(port.info, wanted);
  apply_state(request, number, wanted);
  return true;
}

}  // namespace

MadStatus answer_port_info(const SmaRequest& request, Smp& smp) {
  NodeState& node = request.node;
  constexpr std::uint32_t kReserved = 0x7fffff00;
  const auto modifier = decode_port_info_modifier(smp.attribute_modifier);
  PortNum number = modifier.port;
  if ((smp.attribute_modifier & kReserved) != 0 || number.value() > node.num_ports()) {
    return MadStatus::BadField;
  }
  if (!node.is_switch() && number.value() == 0) number = request.arrival;

  MadStatus status = MadStatus::Ok;
  bool reregister = false;
  if (smp.method == Method::Set) {
    auto wanted = decode_port_info(smp.data);
    if (wanted.has_value() && !modifier.extended_speeds) {
      wanted->link_speed_ext_enabled = 0;
      wanted->link_speed_ext2_enabled = 0;
    }
    const bool other_port = !node.is_switch() && number != request.arrival;
    if (!wanted.has_value() || other_port || !apply_set(request, number, *wanted)) {
      status = MadStatus::BadField;
    } else {
      reregister = wanted->client_reregister;
    }
  }
  PortInfo info = node.ports[number.value()].info;
  info.local_port = request.arrival;
  // The bit is an order, not a register: only the answer to the order shows it.
  info.client_reregister = reregister;
  if (request.hide_m_key) info.m_key = {};
  if (!modifier.extended_speeds && node.options.extended_speeds == ExtendedSpeeds::OnDemand) {
    info.link_speed_ext_active = info.link_speed_ext_supported = info.link_speed_ext_enabled = 0;
    info.link_speed_ext2_active = info.link_speed_ext2_supported = 0;
    info.link_speed_ext2_enabled = 0;
  }
  encode_port_info(info, smp.data);
  return status;
}

}  // namespace smd::sim

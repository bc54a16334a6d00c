#include "sim-backend/agents/node_state.h"

#include <algorithm>

#include "sim-backend/agents/link_codes.h"

namespace smd::sim {
namespace {

constexpr std::uint8_t kDefaultSubnetTimeout = 18;  // 1.07 s, what adapters wake up with

std::uint64_t pack(const SlToVl& map) {
  std::uint64_t row = 0;
  for (std::size_t sl = 0; sl < map.size(); ++sl) {
    row |= std::uint64_t{map[sl].value() & 15u} << (4 * sl);
  }
  return row;
}

/// SL n goes to VL n modulo the data VLs of the port.
std::uint64_t power_on_row(std::uint8_t vl_cap) {
  const unsigned vls = data_vls(vl_cap) == 0 ? 1 : data_vls(vl_cap);
  std::uint64_t row = 0;
  for (unsigned sl = 0; sl < 16; ++sl) row |= std::uint64_t{sl % vls} << (4 * sl);
  return row;
}

std::size_t row_index(const NodeState& node, PortNum in, PortNum out) {
  if (!node.is_switch()) return in.value();
  return std::size_t{in.value()} * node.ports.size() + out.value();
}

std::uint64_t row_of(const NodeState& node, PortNum in, PortNum out) {
  const std::size_t row = row_index(node, in, out);
  return row < node.sl_to_vl.size() ? node.sl_to_vl[row] : power_on_row(node.options.vl_cap);
}

std::uint32_t capability_mask(const NodeState& node) {
  std::uint32_t mask = port_cap::kIsSlMappingSupported | port_cap::kIsSystemImageGuidSupported |
                       port_cap::kIsCapabilityMask2Supported | port_cap::kIsVendorClassSupported |
                       port_cap::kIsClientReregistrationSupported;
  if (node.options.traps) {
    mask |= port_cap::kIsTrapSupported | port_cap::kIsCapabilityMaskNoticeSupported;
  }
  if (node.is_switch() && node.options.multicast_fdb_top) {
    mask |= port_cap::kIsMulticastFdbTopSupported;
  }
  if (!node.is_switch()) {
    mask |=
        port_cap::kIsAutomaticMigrationSupported | port_cap::kIsCommunicationManagementSupported;
  }
  return mask;
}

/// Fields that every port has, external or not.
void set_common(PortInfo& info, const AgentOptions& options, std::uint8_t resp_time_code) {
  info.gid_prefix = kDefaultSubnetPrefix;
  info.vl_cap = options.vl_cap;
  info.operational_vls = 1;
  info.vl_arb_high_cap = options.vl_arb_cap;
  info.vl_arb_low_cap = options.vl_arb_cap;
  info.mtu_cap = options.mtu_cap;
  info.neighbor_mtu = static_cast<std::uint8_t>(Mtu::B256);
  info.subnet_timeout = kDefaultSubnetTimeout;
  info.resp_time_value = resp_time_code;
  info.link_down_default_state = static_cast<std::uint8_t>(options.link_down_default_state);
  info.port_state = static_cast<std::uint8_t>(PortState::Down);
  info.port_physical_state = static_cast<std::uint8_t>(PhysState::Polling);
}

void support_link(PortInfo& info, LinkWidth width, LinkSpeed fastest) {
  info.link_width_supported = info.link_width_enabled = width_mask(width);
  set_offered_speeds(info, fastest);
  if (width == LinkWidth::X2) info.capability_mask2 |= port_cap2::kIsLinkWidth2xSupported;
}

void set_up_port0(NodeState& node, LinkSpeed speed, bool enhanced) {
  PortInfo& info = node.ports[0].info;
  set_active(info, {LinkWidth::X4, speed});
  info.port_physical_state = static_cast<std::uint8_t>(PhysState::LinkUp);
  // Base port 0 has no state machine of its own; an enhanced one waits for its manager.
  info.port_state =
      static_cast<std::uint8_t>(enhanced ? PortState::Initialize : node.options.base_port0_state);
}

}  // namespace

bool NodeState::owns_lid(PortNum port, Lid lid) const {
  const PortInfo& own = management_port(port).info;
  if (own.lid == kUnassignedLid || !is_unicast(lid)) return false;
  return (lid.value() >> own.lmc) == (own.lid.value() >> own.lmc);
}

const CongestionState& NodeState::congestion(PortNum port) const {
  static const CongestionState kPowerOn;
  const auto& own = management_port(port).congestion;
  return own == nullptr ? kPowerOn : *own;
}

CongestionState& NodeState::congestion_regs(PortNum port) {
  auto& own = management_port(port).congestion;
  if (own == nullptr) own = std::make_unique<CongestionState>();
  return *own;
}

std::uint64_t NodeState::sl_to_vl_row(PortNum in, PortNum out) const {
  return row_of(*this, in, out);
}

SlToVl NodeState::read_sl_to_vl(PortNum in, PortNum out) const {
  const std::uint64_t row = row_of(*this, in, out);
  SlToVl map{};
  for (std::size_t sl = 0; sl < map.size(); ++sl) {
    map[sl] = Vl{static_cast<std::uint8_t>(row >> (4 * sl) & 15)};
  }
  return map;
}

void NodeState::write_sl_to_vl(PortNum in, PortNum out, const SlToVl& map) {
  const std::uint64_t row = pack(map);
  if (row == row_of(*this, in, out)) return;
  if (sl_to_vl.empty()) {
    const std::size_t n = ports.size();
    sl_to_vl.assign(is_switch() ? n * n : n, power_on_row(options.vl_cap));
  }
  sl_to_vl[row_index(*this, in, out)] = row;
}

Vl NodeState::map_sl(PortNum in, PortNum out, Sl sl) const {
  return Vl{static_cast<std::uint8_t>(row_of(*this, in, out) >> (4 * (sl.value() & 15)) & 15)};
}

VlArbTables NodeState::read_vl_arb(PortNum port) const {
  if (ports[port.value()].vl_arb != nullptr) return *ports[port.value()].vl_arb;
  VlArbTables tables;
  for (unsigned vl = 0; vl < data_vls(options.vl_cap) && vl < options.vl_arb_cap; ++vl) {
    tables.low[vl] = {Vl{static_cast<std::uint8_t>(vl)}, 4};
    tables.high[vl] = {Vl{static_cast<std::uint8_t>(vl)}, 0};
  }
  return tables;
}

NodeState power_on(const NodeSpec& spec, const AgentOptions& options, std::uint8_t resp_time_code) {
  NodeState node;
  node.type = spec.type;
  node.description = spec.description;
  node.options = options;
  node.ports.resize(spec.ports.size());
  node.info.node_type = static_cast<std::uint8_t>(spec.type);
  node.info.num_ports = static_cast<std::uint8_t>(spec.num_ports());
  node.info.system_guid = spec.system_guid;
  node.info.node_guid = spec.guid;
  node.info.device_id = spec.device_id;
  node.info.vendor_id = spec.vendor_id;
  node.info.partition_cap =
      node.is_switch() ? options.switch_partition_cap : options.ca_partition_cap;

  // Fabric files say nothing of the speed of open ports.
  const bool has_cable = std::ranges::any_of(
      spec.ports, [](const PortSpec& port) { return port.peer_node != kNoNode; });
  LinkSpeed fastest = LinkSpeed::Sdr;
  for (std::size_t i = 1; i < spec.ports.size(); ++i) {
    if (!has_cable || spec.ports[i].peer_node != kNoNode)
      fastest = std::max(fastest, spec.ports[i].speed);
  }

  for (std::size_t i = node.is_switch() ? 0 : 1; i < spec.ports.size(); ++i) {
    const PortSpec& from = spec.ports[i];
    PortRegs& port = node.ports[i];
    set_common(port.info, options, resp_time_code);
    const bool management = !node.is_switch() || i == 0;
    if (management) port.info.capability_mask = capability_mask(node);
    support_link(port.info, from.width, i == 0 ? fastest : from.speed);
    port.fdr10 = port.fdr10_supported =
        from.speed >= LinkSpeed::Fdr10 && spec.vendor_id == kMellanox;
    port.guid = node.is_switch() ? spec.guid : from.guid;
    port.p_keys = {kDefaultPKey};
    if (options.extended_speeds == ExtendedSpeeds::Unannounced) {
      port.info.capability_mask &= ~port_cap::kIsExtendedSpeedsSupported;
    }
    if (node.is_switch() && management && options.port_state_table) {
      port.info.capability_mask2 |= port_cap2::kIsSwitchPortStateTableSupported;
    }
    if (!management) {
      // Only management ports have capabilities; an external port borrows port 0's.
      port.info.capability_mask = 0;
      port.info.capability_mask2 = 0;
      continue;
    }
    port.info.guid_cap = options.guid_cap;
    port.guids = {port.guid};
  }
  if (node.is_switch()) {
    set_up_port0(node, fastest, spec.enhanced_port0);
    node.switch_info.linear_fdb_cap = options.rft_cap > 0 ? std::uint16_t{0} : options.lft_cap;
    node.switch_info.random_fdb_cap = options.rft_cap;
    node.switch_info.multicast_fdb_cap = options.mft_cap;
    // No entry counts until a manager raises it.
    if (node.has_multicast_top()) node.switch_info.multicast_fdb_top = kFirstMulticast - 1;
    node.switch_info.default_port = kNoRoute;
    node.switch_info.lids_per_port = 1;
    node.switch_info.partition_enforcement_cap = options.switch_partition_cap;
    node.switch_info.inbound_enforcement_cap = true;
    node.switch_info.outbound_enforcement_cap = true;
    node.switch_info.enhanced_port0 = spec.enhanced_port0;
    node.switch_info.optimized_sl_to_vl = options.optimized_sl_to_vl;
  }
  return node;
}

}  // namespace smd::sim

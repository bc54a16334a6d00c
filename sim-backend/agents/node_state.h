// Registers and tables of one simulated node, as they are after power-on and as its manager writes
// them. Tables grow on demand: a fabric of 1,600 switches and 13,000 LIDs fits beside its manager.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "sim-backend/agents/agent_options.h"
#include "sim-backend/agents/congestion_state.h"
#include "sim-backend/agents/counters.h"
#include "sim-backend/topology/fabric_spec.h"
#include "smd/mad/node_info.h"
#include "smd/mad/port_info.h"
#include "smd/mad/tables.h"
#include "smd/mad/vendor.h"
#include "smd/runtime/runtime.h"

namespace smd::sim {

inline constexpr std::uint16_t kFirstMulticast = 0xC000;

struct VlArbTables {
  std::array<VlArbEntry, 2 * kVlArbBlockSize> low{};
  std::array<VlArbEntry, 2 * kVlArbBlockSize> high{};
};

struct PortRegs {
  PortInfo info;  // local_port is filled in per request
  Guid guid;
  PortCounterRegs counters;
  std::vector<PKey> p_keys;                     // entries beyond are 0
  std::vector<Guid> guids;                      // entries beyond are 0; [0] is the port's own
  std::unique_ptr<VlArbTables> vl_arb;          // null: the power-on tables
  std::unique_ptr<CongestionState> congestion;  // of management ports; null: as at power-on
  TimePoint lease_end;                          // of the M_Key; the default when no lease runs
  bool fdr10 = false;                           // FDR10 enabled (ExtendedPortInfo)
  bool fdr10_active = false;
  bool fdr10_supported = false;

  [[nodiscard]] PortState state() const { return info.state(); }
};

struct NodeState {
  NodeType type = NodeType::Ca;
  std::string description;
  NodeInfo info;  // local_port and port_guid are filled in per request
  SwitchInfo switch_info;
  AgentOptions options;
  std::vector<PortRegs> ports;  // [0] is a switch's port 0, unused on adapters
  std::vector<PortNum> lft;     // LIDs beyond have no route
  std::vector<RftEntry> rft;
  std::array<std::vector<std::uint16_t>, 16> mft;  // by port-mask position, then MLID
  AdaptiveRoutingInfo adaptive_routing;  // registers alone: packets go by the tables above
  PrivateLftInfo private_lft;
  std::vector<std::uint64_t> sl_to_vl;  // rows of 16 nibbles; empty: the power-on rows

  [[nodiscard]] bool is_switch() const { return type == NodeType::Switch; }

  /// Entries of its multicast table above MulticastFDBTop count for nothing.
  [[nodiscard]] bool has_multicast_top() const {
    return is_switch() && options.multicast_fdb_top && switch_info.multicast_fdb_cap > 0;
  }

  [[nodiscard]] unsigned num_ports() const { return static_cast<unsigned>(ports.size()) - 1; }

  [[nodiscard]] bool has_port(PortNum port) const {
    return port.value() <= num_ports() && (port.value() != 0 || is_switch());
  }

  [[nodiscard]] bool is_external(PortNum port) const {
    return port.value() != 0 && port.value() <= num_ports();
  }

  /// The port whose LID, M_Key and SM are used when a MAD comes in by `port`.
  [[nodiscard]] PortRegs& management_port(PortNum port) {
    return ports[is_switch() ? 0 : port.value()];
  }

  [[nodiscard]] const PortRegs& management_port(PortNum port) const {
    return ports[is_switch() ? 0 : port.value()];
  }

  /// Congestion control of that management port; all zero at power-on.
  [[nodiscard]] const CongestionState& congestion(PortNum port) const;
  [[nodiscard]] CongestionState& congestion_regs(PortNum port);

  /// True when `lid` is one of the LIDs of that management port.
  [[nodiscard]] bool owns_lid(PortNum port, Lid lid) const;

  [[nodiscard]] SlToVl read_sl_to_vl(PortNum in, PortNum out) const;
  [[nodiscard]] std::uint64_t sl_to_vl_row(PortNum in, PortNum out) const;  // nibble s: VL of SL s
  void write_sl_to_vl(PortNum in, PortNum out, const SlToVl& map);

  [[nodiscard]] VlArbTables read_vl_arb(PortNum port) const;

  [[nodiscard]] Vl map_sl(PortNum in, PortNum out, Sl sl) const;
};

/// A node that was just switched on: no LID, no tables, every port Down.
[[nodiscard]] NodeState power_on(const NodeSpec& spec,
                                 const AgentOptions& options,
                                 std::uint8_t resp_time_code);

}  // namespace smd::sim

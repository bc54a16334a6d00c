// What a port should be set to, and which ports another M_Key keeps from us.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "smd/fabric/fabric.h"
#include "smd/mad/port_info.h"

namespace smd {

// Kinds of ports that a site gives tables of their own, as OpenSM's qos_ca_, qos_rtr_, qos_sw0_ and
// qos_swe_ options do.

enum class PortKind : std::uint8_t { Ca, Router, SwitchPort0, SwitchExternal };

inline constexpr std::size_t kPortKinds = 4;

[[nodiscard]] inline PortKind kind_of(const Fabric& fabric, PortIdx port) {
  const NodeIdx node = fabric.node_of[port];
  if (fabric.is_switch(node)) {
    return fabric.number_of(port) == PortNum{0} ? PortKind::SwitchPort0 : PortKind::SwitchExternal;
  }
  const auto type = static_cast<NodeType>(fabric.node_info[node].node_type);
  return type == NodeType::Router ? PortKind::Router : PortKind::Ca;
}

/// A port that packets of data go through, and whose PortState means something: not the management
/// port of a switch without an enhanced one.
[[nodiscard]] inline bool is_data_port(const Fabric& fabric, PortIdx port) {
  const SwitchIdx sw = fabric.switch_at(port);
  return fabric.number_of(port) != PortNum{0} ||
         (sw != kNone<SwitchIdx> && fabric.switch_info[sw].enhanced_port0);
}

// What a port should be set to, given its two ends and the site's policy. Pure: PortInfo in,
// PortInfo out.

struct PortPolicy {
  Mtu mtu_max = Mtu::B4096;
  std::uint8_t max_operational_vls = 5;  // vl_cap code: 1, 2, 3, 4, 5 for 1, 2, 4, 8, 15 VLs
  std::uint8_t subnet_timeout = 18;      // code, 4.096 us * 2^n, as the next three
  std::uint8_t packet_life_time = 18;    // SwitchInfo.LifeTimeValue
  std::uint8_t hoq_life = 18;            // ports towards switches
  std::uint8_t leaf_hoq_life = 16;       // ports towards adapters
  std::uint8_t vl_stall_count = 7;
  std::uint8_t leaf_vl_stall_count = 7;
  std::uint8_t local_phy_errors = 8;
  std::uint8_t overrun_errors = 8;
  std::array<std::optional<std::uint8_t>, kPortKinds> vl_high_limit{};  // absent: as it is
  MKey m_key;
  bool tries_m_keys = false;  // ports that hide their key may have one of ours
  std::uint8_t m_key_protect = 0;
  std::uint16_t m_key_lease_s = 0;
  std::uint64_t subnet_prefix = kDefaultSubnetPrefix;
  Lid master_sm_lid;

  /// Without a key nothing is protected, and a port with these bits passes for one that hides its
  /// own.
  [[nodiscard]] std::uint8_t protect_bits() const {
    return m_key == MKey{} ? std::uint8_t{0} : m_key_protect;
  }
};

/// The PortInfo that `port` should answer, PortState and MasterSMSL aside. Starts from what it
/// answers now.
[[nodiscard]] PortInfo desired_port_info(const Fabric& fabric,
                                         const LidMap& lids,
                                         PortIdx port,
                                         const PortPolicy& policy);

/// True when a Set is needed to get from `now` to `wanted`; the state is not looked at.
[[nodiscard]] bool differs(const PortInfo& now, const PortInfo& wanted);

/// The body of a Set: `wanted`, with "no change" in every field that has it, and `state` as the
/// state change.
[[nodiscard]] PortInfo set_body(const PortInfo& wanted, PortState state);

/// Ports that the manager configures: port 0 of switches, and every port with a link to a known
/// port.
[[nodiscard]] bool is_managed(const Fabric& fabric, PortIdx port);

/// The port, or who it is linked to, needs a LID and has none.
[[nodiscard]] bool lacks_lid(const Fabric& fabric, const LidMap& lids, PortIdx port);

/// Of managed ports, all that shall be Active: none that lacks a LID, and no base port 0, which has
/// no PortState (IBA 14.2.5.6).
[[nodiscard]] bool is_to_be_active(const Fabric& fabric, const LidMap& lids, PortIdx port);

// Ports that somebody else protects: they carry an M_Key that is not ours, so they take no Set from
// us unless they show it, which they do once its lease has ended (IBA 14.2.4).

struct ForeignKeys {
  std::uint64_t ports = 0;
  std::optional<PortIdx> first;
  std::uint16_t longest_lease_s = 0;
  std::uint64_t forever = 0;  // of `ports`: those whose lease never ends

  friend bool operator==(const ForeignKeys&, const ForeignKeys&) = default;
};

/// Management ports as they were read with `ours`. Ports of protection level 2 and 3 do not answer
/// and are not among them: they show as silent.
[[nodiscard]] ForeignKeys find_foreign_keys(const Fabric& fabric, MKey ours);

/// The port shows a key that is not `ours`: with that one it takes a Set all the same.
[[nodiscard]] bool shows_foreign_key(const Fabric& fabric, PortIdx port, MKey ours);

/// The port has a key, and hides it from who does not know it.
[[nodiscard]] bool hides_key(const Fabric& fabric, PortIdx port);

// A table block to look at: where it is, and what to write when it is not as it should be.

struct TableCheck {
  PortIdx port = kNone<PortIdx>;  // the agent is reached through this port
  AttributeId attribute = AttributeId::SlToVlMappingTable;
  std::uint32_t modifier = 0;

  /// What to Set, given what the agent holds; nothing when it is right.
  std::function<std::optional<SmpData>(const SmpData& now)> repair;
};

// Without a partition file: every end port is a full member of the default partition.

/// Looks at the first P_Key block of every end port. A table without the default partition gets it
/// where it is a limited member, in its first free entry, or in entry 0 when it has none. After
/// power-on every table has it (IBA 10.9.2), so this only repairs what somebody left behind.
[[nodiscard]] std::vector<TableCheck> build_default_pkey_checks(const Fabric& fabric);

}  // namespace smd

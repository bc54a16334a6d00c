// What a port should be set to, given its two ends and the site's policy. Pure: PortInfo in,
// PortInfo out.
#pragma once

#include <array>
#include <optional>

#include "smd/fabric/lid_map.h"
#include "smd/mad/port_info.h"
#include "smd/policy/port_kind.h"

namespace smd {

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
  std::uint8_t m_key_protect = 0;
  std::uint16_t m_key_lease_s = 0;
  std::uint64_t subnet_prefix = kDefaultSubnetPrefix;
  Lid master_sm_lid;
  std::uint8_t master_sm_sl = 0;
};

/// The PortInfo that `port` should answer, PortState aside. Starts from what it answers now.
[[nodiscard]] PortInfo desired_port_info(const Fabric& fabric,
                                         const LidMap& lids,
                                         PortIdx port,
                                         const PortPolicy& policy);

/// True when a Set is needed to get from `now` to `wanted`; the state is not looked at.
[[nodiscard]] bool differs(const PortInfo& now, const PortInfo& wanted);

/// The body of a Set: `wanted`, with "no change" in every field that has it, and `state` as the
/// state change.
[[nodiscard]] PortInfo set_body(const PortInfo& wanted, PortState state);

/// Ports that the manager configures: port 0 of switches, and every port with a cable to a known
/// port.
[[nodiscard]] bool is_managed(const Fabric& fabric, PortIdx port);

/// Of these, all that shall be Active: not port 0 of a switch that has no LID, and neither end of a
/// link to an adapter's port that has none.
[[nodiscard]] bool is_to_be_active(const Fabric& fabric, const LidMap& lids, PortIdx port);

}  // namespace smd

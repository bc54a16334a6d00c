// Which requests a discovery consists of, and what they carry.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>

#include "smd/ib/types.h"
#include "smd/mad/port_info.h"

namespace smd {

enum class RequestSet : std::uint8_t {
  /// A link known from one end is not asked from the other, and a raised PortStateChange is cleared
  /// before the switch's ports are read, so that a change during the reading raises it again.
  /// Partial: only suspects are asked, routes are directed over surviving links, and a switch that
  /// lost no link is not probed.
  Fewest,

  /// Those of the thesis (full discovery, Table 12): every up port is probed, the way back
  /// included, and LIDs are set while discovering. Partial: every known switch is asked for
  /// SwitchInfo by LID first, SMPs to re-routed devices take an initial LID-routed segment to the
  /// last switch whose route still works, every missing switch is probed, and every up port of a
  /// new switch is explored.
  Thesis,
};

struct DiscoveryOptions {
  RequestSet requests = RequestSet::Fewest;
  MKey m_key;

  /// Partial discovery with Fewest: switches that have a SwitchPortStateTable are asked for it, and
  /// PortInfo of those ports alone whose state it says is another one.
  bool port_state_tables = true;

  /// Nothing is set: PortStateChange stays raised where it is, and what came after the ports were
  /// read does not show. Full discovery with Fewest only.
  bool read_only = false;

  /// Thesis only: called with the port's GUID for every port that takes a LID; what it returns is
  /// sent as Set(PortInfo) at once.
  std::function<std::optional<PortInfo>(Guid, const PortInfo&)> set_end_port;
};

}  // namespace smd

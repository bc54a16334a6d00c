// What congestion control MADs set in switches and adapters (IBA 1.2.1, annex A10), as the packets
// feel it.
#pragma once

#include <vector>

#include "sim-backend/agents/congestion_state.h"
#include "smd/mad/congestion.h"

namespace smd::sim {

/// Of a switch. Ports beyond the list, and those that are not valid, go by the switch's setting.
struct IbSwitchRegisters {
  cc::SwitchSetting setting;
  std::vector<cc::PortSetting> ports;  // by port number
};

/// Of an adapter's port. An empty table never delays.
struct IbCaRegisters {
  cc::CaSetting setting;
  std::vector<cc::CctEntry> table;
  std::uint16_t limit = 0;  // the highest index
};

/// What the agent of a switch or of an adapter's port holds.
[[nodiscard]] IbSwitchRegisters read_switch(const CongestionState& state);
[[nodiscard]] IbCaRegisters read_ca(const CongestionState& state);

}  // namespace smd::sim

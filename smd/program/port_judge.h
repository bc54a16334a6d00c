// What an agent kept of a PortInfo that it was set to.
//
// Addresses are what everybody else relies on: not keeping one is a fault. The rest is set again in
// vain, so it is named and remembered.
#pragma once

#include <optional>
#include <string>

#include "smd/mad/port_info.h"

namespace smd {

/// LID, LMC or MasterSMLID of an end port: "LID 5 was not kept: it answers 4". Empty when all are.
[[nodiscard]] std::string find_lost_address(const PortInfo& wanted, const PortInfo& answered);

/// "NeighborMTU 4 set, 5 kept; HOQLife 18 set, 0 kept". Empty when all is as set. Keys are named
/// and not shown.
[[nodiscard]] std::string find_not_kept(const PortInfo& wanted, const PortInfo& answered);

}  // namespace smd

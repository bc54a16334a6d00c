// Kinds of ports that a site gives tables of their own, as OpenSM's qos_ca_, qos_rtr_, qos_sw0_ and
// qos_swe_ options do.
#pragma once

#include <cstdint>

#include "smd/fabric/fabric.h"

namespace smd {

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

/// A port that packets of data go through: not the management port of a switch without an enhanced
/// one.
[[nodiscard]] inline bool carries_data(const Fabric& fabric, PortIdx port) {
  const SwitchIdx sw = fabric.switch_of[fabric.node_of[port]];
  return fabric.number_of(port) != PortNum{0} ||
         (sw != kNone<SwitchIdx> && fabric.switch_info[sw].enhanced_port0);
}

}  // namespace smd

// Cables from a switch to itself. No route takes them, but an old entry may: to a host that sat at
// the port once. Its packets would go round for ever.
#pragma once

#include <utility>
#include <vector>

#include "smd/fabric/fabric.h"

namespace smd {

inline std::vector<std::pair<SwitchIdx, PortNum>> find_loop_backs(const Fabric& fabric) {
  std::vector<std::pair<SwitchIdx, PortNum>> ports;
  for (const SwitchIdx sw : fabric.switch_node.indices()) {
    const NodeIdx node = fabric.switch_node[sw];
    for (const PortIdx port : fabric.external_ports(node)) {
      if (fabric.peer[port] != kNone<PortIdx> && fabric.node_of[fabric.peer[port]] == node)
        ports.emplace_back(sw, fabric.number_of(port));
    }
  }
  return ports;
}

}  // namespace smd

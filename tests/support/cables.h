// The cables of a simulated fabric, each named by one end.
#pragma once

#include <vector>

#include "sim-backend/topology/fabric_spec.h"

namespace smd::test {

struct Cable {
  std::uint32_t node;
  PortNum port;
};

/// By the end with the smaller node number; in order of node and port.
[[nodiscard]] inline std::vector<Cable> cables_between_switches(const sim::FabricSpec& spec) {
  std::vector<Cable> out;
  for (std::uint32_t n = 0; n < spec.nodes.size(); ++n) {
    if (spec.nodes[n].type != NodeType::Switch) continue;
    for (unsigned p = 1; p <= spec.nodes[n].num_ports(); ++p) {
      const std::uint32_t peer = spec.nodes[n].ports[p].peer_node;
      if (peer != sim::kNoNode && peer > n && spec.nodes[peer].type == NodeType::Switch)
        out.push_back({n, PortNum{static_cast<std::uint8_t>(p)}});
    }
  }
  return out;
}

/// Every end at a switch: a cable between switches comes twice.
[[nodiscard]] inline std::vector<Cable> cable_ends_at_switches(const sim::FabricSpec& spec) {
  std::vector<Cable> out;
  for (std::uint32_t n = 0; n < spec.nodes.size(); ++n) {
    if (spec.nodes[n].type != NodeType::Switch) continue;
    for (unsigned p = 1; p <= spec.nodes[n].num_ports(); ++p) {
      if (spec.nodes[n].ports[p].peer_node != sim::kNoNode)
        out.push_back({n, PortNum{static_cast<std::uint8_t>(p)}});
    }
  }
  return out;
}

}  // namespace smd::test

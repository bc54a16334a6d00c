// The same cabling under other labels: what is good or bad about routes must not hang on them.
#pragma once

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <utility>
#include <vector>

#include "sim-backend/topology/fabric_spec.h"
#include "smd/base/rng.h"

namespace smd::sim {

/// order[i]: the old number of the new node i; who is not in it goes, with its cables.
inline void reorder(FabricSpec& spec, const std::vector<std::uint32_t>& order) {
  std::vector<std::uint32_t> now(spec.nodes.size(), kNoNode);
  for (std::uint32_t i = 0; i < order.size(); ++i) now[order[i]] = i;
  std::vector<NodeSpec> nodes;
  for (const std::uint32_t old : order) {
    nodes.push_back(spec.nodes[old]);
    for (PortSpec& port : nodes.back().ports) {
      if (port.peer_node != kNoNode) port.peer_node = now[port.peer_node];
    }
  }
  spec.nodes = std::move(nodes);
  if (now[spec.sm_node] != kNoNode) {
    spec.sm_node = now[spec.sm_node];
  } else {
    spec.sm_node = 0;
    spec.sm_port =
        PortNum{static_cast<std::uint8_t>(spec.nodes.front().type == NodeType::Switch ? 0 : 1)};
  }
}

template <class T>
void shuffle(std::vector<T>& items, Rng& rng) {
  for (std::size_t i = items.size(); i > 1; --i) std::swap(items[i - 1], items[rng.below(i)]);
}

/// Nodes in another order, with other GUIDs, cables at other ports of their switches. Descriptions
/// stay.
inline void relabel(FabricSpec& spec, std::uint64_t seed) {
  Rng rng{seed};
  std::vector<std::uint32_t> order(spec.nodes.size());
  std::iota(order.begin(), order.end(), 0u);
  shuffle(order, rng);
  reorder(spec, order);
  for (NodeSpec& node : spec.nodes) {
    node.guid = node.system_guid = Guid{rng.next() >> 8};
    if (node.type != NodeType::Switch) node.ports[1].guid = Guid{rng.next() >> 8};
  }
  for (std::uint32_t n = 0; n < spec.nodes.size(); ++n) {
    std::vector<PortSpec>& ports = spec.nodes[n].ports;
    if (spec.nodes[n].type != NodeType::Switch) continue;
    std::vector<PortSpec> mixed(ports.begin() + 1, ports.end());
    shuffle(mixed, rng);
    std::copy(mixed.begin(), mixed.end(), ports.begin() + 1);
    for (std::uint32_t p = 1; p < ports.size(); ++p) {
      if (ports[p].peer_node == kNoNode) continue;
      spec.nodes[ports[p].peer_node].ports[ports[p].peer_port.value()].peer_port =
          PortNum{static_cast<std::uint8_t>(p)};
    }
  }
}

}  // namespace smd::sim

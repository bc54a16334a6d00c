// A production cluster of 2025 as its ibnetdiscover shows it: 31 leaves and 9 spines of 64 ports,
// trunks of two cables, some of one, some missing; 542 hosts, and on the last port of every switch
// an aggregation node.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "sim-backend/topology/fabric_spec.h"

namespace smd::test {

struct NdrLeaf {
  unsigned hosts;
  const char* cables;  // to each spine
};

inline constexpr std::array kNdrLeaves{
    NdrLeaf{17, "222222220"}, NdrLeaf{16, "222222220"}, NdrLeaf{16, "220222220"},
    NdrLeaf{19, "222222222"}, NdrLeaf{19, "222222222"}, NdrLeaf{17, "222222222"},
    NdrLeaf{17, "222212222"}, NdrLeaf{17, "222222222"}, NdrLeaf{17, "222012222"},
    NdrLeaf{17, "222222222"}, NdrLeaf{17, "220222222"}, NdrLeaf{18, "222222222"},
    NdrLeaf{18, "222222222"}, NdrLeaf{18, "222220222"}, NdrLeaf{18, "222222222"},
    NdrLeaf{18, "222222222"}, NdrLeaf{18, "222222222"}, NdrLeaf{18, "221222122"},
    NdrLeaf{17, "222222222"}, NdrLeaf{17, "220222222"}, NdrLeaf{17, "222222222"},
    NdrLeaf{18, "222222222"}, NdrLeaf{18, "222222222"}, NdrLeaf{18, "222202221"},
    NdrLeaf{18, "220222222"}, NdrLeaf{16, "222222222"}, NdrLeaf{16, "222222222"},
    NdrLeaf{18, "222222222"}, NdrLeaf{18, "222222222"}, NdrLeaf{18, "221222222"},
    NdrLeaf{18, "222222222"}};

inline constexpr std::uint32_t kNdrSpines = 9;
inline constexpr std::uint32_t kNdrSwitches = kNdrLeaves.size() + kNdrSpines;

/// Aggregation nodes are the last of its nodes.
inline sim::FabricSpec ndr_582() {
  constexpr unsigned kPorts = 65;
  sim::FabricSpec spec;
  std::uint64_t guid = 0;
  std::vector<unsigned> used;  // ports, by switch
  const auto add =
      [&](NodeType type, const std::string& name, unsigned ports, std::uint16_t device) {
        const std::uint32_t node = sim::add_node(spec, type, name, Guid{guid += 0x100}, ports);
        spec.nodes[node].device_id = device;
        spec.nodes[node].enhanced_port0 = type == NodeType::Switch;
        return node;
      };
  const auto port = [](unsigned number) { return PortNum{static_cast<std::uint8_t>(number)}; };
  const auto join = [&](std::uint32_t a, unsigned port_a, std::uint32_t b, unsigned port_b) {
    sim::connect(spec, a, port(port_a), b, port(port_b), LinkWidth::X4, LinkSpeed::Ndr);
  };
  // Node 0 carries the manager: the first host.
  spec.nodes.reserve(1000);
  const std::uint32_t first = add(NodeType::Ca, "node-0000 mlx5_0", 1, 0x1021);
  std::vector<std::uint32_t> switches;
  for (std::uint32_t i = 0; i < kNdrSwitches; ++i) {
    const bool leaf = i < kNdrLeaves.size();
    const std::string name = leaf ? "leaf-" + std::to_string(i + 1)
                                  : "spine-" + std::to_string(i + 1 - kNdrLeaves.size());
    switches.push_back(add(NodeType::Switch, "MF0;" + name + ":MQM9701/U1", kPorts, 0xd2f2));
  }
  used.assign(kNdrSwitches, 0);
  unsigned hosts = 0;
  for (std::uint32_t leaf = 0; leaf < kNdrLeaves.size(); ++leaf) {
    for (unsigned h = 0; h < kNdrLeaves[leaf].hosts; ++h) {
      const std::uint32_t host =
          hosts == 0 ? first
                     : add(NodeType::Ca, "node-" + std::to_string(hosts) + " mlx5_0", 1, 0x1021);
      ++hosts;
      join(switches[leaf], ++used[leaf], host, 1);
    }
    used[leaf] = 30;
    for (std::uint32_t s = 0; s < kNdrSpines; ++s) {
      const auto spine = static_cast<std::uint32_t>(kNdrLeaves.size() + s);
      for (char left = kNdrLeaves[leaf].cables[s]; left > '0'; --left)
        join(switches[leaf], ++used[leaf], switches[spine], ++used[spine]);
    }
  }
  for (const std::uint32_t sw : switches)
    join(sw, kPorts, add(NodeType::Ca, "Mellanox Technologies Aggregation Node", 1, 0xcf09), 1);
  spec.sm_node = first;
  spec.sm_port = PortNum{1};
  return spec;
}

}  // namespace smd::test

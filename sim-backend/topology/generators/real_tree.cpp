// ndr-582: a production cluster of 2025 as its ibnetdiscover shows it, with other GUIDs and names.
#include <array>
#include <string>
#include <vector>

#include "sim-backend/topology/drawing.h"
#include "sim-backend/topology/generators/generator_entries.h"

namespace smd::sim {
namespace {

struct Leaf {
  unsigned hosts;
  const char* cables;  // to each spine
};

constexpr std::array kLeaves{
    Leaf{17, "222222220"}, Leaf{16, "222222220"}, Leaf{16, "220222220"}, Leaf{19, "222222222"},
    Leaf{19, "222222222"}, Leaf{17, "222222222"}, Leaf{17, "222212222"}, Leaf{17, "222222222"},
    Leaf{17, "222012222"}, Leaf{17, "222222222"}, Leaf{17, "220222222"}, Leaf{18, "222222222"},
    Leaf{18, "222222222"}, Leaf{18, "222220222"}, Leaf{18, "222222222"}, Leaf{18, "222222222"},
    Leaf{18, "222222222"}, Leaf{18, "221222122"}, Leaf{17, "222222222"}, Leaf{17, "220222222"},
    Leaf{17, "222222222"}, Leaf{18, "222222222"}, Leaf{18, "222222222"}, Leaf{18, "222202221"},
    Leaf{18, "220222222"}, Leaf{16, "222222222"}, Leaf{16, "222222222"}, Leaf{18, "222222222"},
    Leaf{18, "222222222"}, Leaf{18, "221222222"}, Leaf{18, "222222222"}};

constexpr std::uint32_t kSpines = 9;
constexpr unsigned kPorts = 65;  // with that of the aggregation node
constexpr unsigned kFirstUp = 31;
constexpr std::uint16_t kHostDevice = 0x1021, kSwitchDevice = 0xd2f2;

Result<FabricSpec> draw_real_tree(const Arguments& arguments) {
  const bool aggregation = arguments.number("aggregation") != 0;
  FabricSpec spec;
  std::uint64_t guid = 0;
  const auto add =
      [&](NodeType type, const std::string& name, unsigned ports, std::uint16_t device) {
        const std::uint32_t node = add_node(spec, type, name, Guid{guid += 0x100}, ports);
        spec.nodes[node].device_id = device;
        spec.nodes[node].enhanced_port0 = type == NodeType::Switch;
        return node;
      };
  const auto join = [&](std::uint32_t a, unsigned port_a, std::uint32_t b, unsigned port_b) {
    connect(spec, a, port_num(port_a), b, port_num(port_b), arguments.width, arguments.speed);
  };
  // Node 0 carries the manager: the first host.
  const std::uint32_t first = add(NodeType::Ca, "node-0000 mlx5_0", 1, kHostDevice);
  std::vector<std::uint32_t> switches;
  for (std::uint32_t i = 0; i < kLeaves.size() + kSpines; ++i) {
    const bool leaf = i < kLeaves.size();
    const std::string name =
        leaf ? "leaf-" + std::to_string(i + 1) : "spine-" + std::to_string(i + 1 - kLeaves.size());
    switches.push_back(add(NodeType::Switch, "MF0;" + name + ":MQM9701/U1", kPorts, kSwitchDevice));
  }
  std::array<unsigned, kSpines> used{};
  unsigned hosts = 0;
  for (std::uint32_t leaf = 0; leaf < kLeaves.size(); ++leaf) {
    for (unsigned h = 1; h <= kLeaves[leaf].hosts; ++h) {
      const std::uint32_t host =
          hosts == 0
              ? first
              : add(NodeType::Ca, "node-" + std::to_string(hosts) + " mlx5_0", 1, kHostDevice);
      ++hosts;
      join(switches[leaf], h, host, 1);
    }
    unsigned up = kFirstUp;
    for (std::uint32_t s = 0; s < kSpines; ++s) {
      for (char left = kLeaves[leaf].cables[s]; left > '0'; --left)
        join(switches[leaf], up++, switches[kLeaves.size() + s], ++used[s]);
    }
  }
  for (const std::uint32_t sw : switches) {
    if (!aggregation) break;
    join(sw,
         kPorts,
         add(NodeType::Ca, "Mellanox Technologies Aggregation Node", 1, kAggregationDevice),
         1);
  }
  spec.sm_node = first;
  spec.sm_port = port_num(1);
  return spec;
}

constexpr std::array kRealTreeKeys{
    number_key("aggregation", "1", 0, 1)
        .means("1: every switch has an aggregation node (SHARP) on its last port"),
};

}  // namespace

const Generator kRealTree{
    .name = "ndr-582",
    .meaning =
        "a production cluster of 2025: 31 leaves and 9 spines of 64 ports, trunks of two "
        "cables, some of one, some missing; 542 hosts",
    .keys = kRealTreeKeys,
    .draw = draw_real_tree,
    .speed = "NDR",
};

}  // namespace smd::sim

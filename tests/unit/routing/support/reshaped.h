// Generated fabrics that lose cables and switches, and whose labels say nothing any more.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <numeric>
#include <string>
#include <vector>

#include "sim-backend/topology/fabric_spec.h"
#include "sim-backend/topology/snapshot.h"
#include "smd/base/rng.h"
#include "tests/support/fabric_text.h"

namespace smd::test {

class Reshaped {
 public:
  explicit Reshaped(const std::string& call) : spec_(sim::load_fabric(call).value()) {}

  /// Takes away one cable between the two.
  Reshaped& without_cable(const std::string& a, const std::string& b) {
    sim::NodeSpec& node = spec_.nodes[index(a)];
    for (sim::PortSpec& port : node.ports) {
      if (port.peer_node != index(b)) continue;
      spec_.nodes[port.peer_node].ports[port.peer_port.value()].peer_node = sim::kNoNode;
      port.peer_node = sim::kNoNode;
      return *this;
    }
    ADD_FAILURE() << "no cable between " << a << " and " << b;
    return *this;
  }

  /// Takes away the switch and its hosts.
  Reshaped& without_switch(const std::string& name) {
    std::vector<std::uint32_t> gone{index(name)};
    for (const sim::PortSpec& port : spec_.nodes[gone.front()].ports) {
      if (port.peer_node != sim::kNoNode && spec_.nodes[port.peer_node].type == NodeType::Ca)
        gone.push_back(port.peer_node);
    }
    std::vector<std::uint32_t> order;
    for (std::uint32_t n = 0; n < spec_.nodes.size(); ++n) {
      if (std::find(gone.begin(), gone.end(), n) == gone.end()) order.push_back(n);
    }
    reorder(order);
    return *this;
  }

  /// Nodes in another order, with other GUIDs, cables at other ports of their switches. Names stay.
  Reshaped& relabel(std::uint64_t seed) {
    Rng rng{seed};
    std::vector<std::uint32_t> order(spec_.nodes.size());
    std::iota(order.begin(), order.end(), 0u);
    shuffle(order, rng);
    reorder(order);
    for (sim::NodeSpec& node : spec_.nodes) {
      node.guid = node.system_guid = Guid{rng.next() >> 8};
      if (node.type != NodeType::Switch) node.ports[1].guid = Guid{rng.next() >> 8};
    }
    for (std::uint32_t n = 0; n < spec_.nodes.size(); ++n) {
      if (spec_.nodes[n].type == NodeType::Switch) shuffle_ports(n, rng);
    }
    return *this;
  }

  /// Links between switches, each once: for those who take away some of them.
  [[nodiscard]] std::vector<std::pair<std::string, std::string>> cables() const {
    std::vector<std::pair<std::string, std::string>> found;
    for (std::uint32_t n = 0; n < spec_.nodes.size(); ++n) {
      if (spec_.nodes[n].type != NodeType::Switch) continue;
      for (const sim::PortSpec& port : spec_.nodes[n].ports) {
        if (port.peer_node == sim::kNoNode || port.peer_node < n) continue;
        if (spec_.nodes[port.peer_node].type == NodeType::Switch)
          found.emplace_back(spec_.nodes[n].description, spec_.nodes[port.peer_node].description);
      }
    }
    return found;
  }

  [[nodiscard]] std::vector<std::string> switches() const {
    std::vector<std::string> names;
    for (const sim::NodeSpec& node : spec_.nodes) {
      if (node.type == NodeType::Switch) names.push_back(node.description);
    }
    return names;
  }

  /// With eight data VLs on every link.
  [[nodiscard]] Fabric build() const { return *sim::build_snapshot(spec_); }

 private:
  [[nodiscard]] std::uint32_t index(const std::string& name) const {
    for (std::uint32_t n = 0; n < spec_.nodes.size(); ++n) {
      if (spec_.nodes[n].description == name) return n;
    }
    ADD_FAILURE() << "no node " << name;
    return 0;
  }

  template <class T>
  static void shuffle(std::vector<T>& items, Rng& rng) {
    for (std::size_t i = items.size(); i > 1; --i) std::swap(items[i - 1], items[rng.below(i)]);
  }

  // order[i]: the old number of the new node i; who is not in it goes, with its cables.
  void reorder(const std::vector<std::uint32_t>& order) {
    std::vector<std::uint32_t> now(spec_.nodes.size(), sim::kNoNode);
    for (std::uint32_t i = 0; i < order.size(); ++i) now[order[i]] = i;
    std::vector<sim::NodeSpec> nodes;
    for (const std::uint32_t old : order) {
      nodes.push_back(spec_.nodes[old]);
      for (sim::PortSpec& port : nodes.back().ports) {
        if (port.peer_node != sim::kNoNode) port.peer_node = now[port.peer_node];
      }
    }
    spec_.nodes = std::move(nodes);
    if (now[spec_.sm_node] != sim::kNoNode) {
      spec_.sm_node = now[spec_.sm_node];
    } else {
      spec_.sm_node = 0;
      spec_.sm_port =
          PortNum{static_cast<std::uint8_t>(spec_.nodes.front().type == NodeType::Switch ? 0 : 1)};
    }
  }

  void shuffle_ports(std::uint32_t n, Rng& rng) {
    std::vector<sim::PortSpec>& ports = spec_.nodes[n].ports;
    std::vector<sim::PortSpec> mixed(ports.begin() + 1, ports.end());
    shuffle(mixed, rng);
    std::copy(mixed.begin(), mixed.end(), ports.begin() + 1);
    for (std::uint32_t p = 1; p < ports.size(); ++p) {
      if (ports[p].peer_node == sim::kNoNode) continue;
      spec_.nodes[ports[p].peer_node].ports[ports[p].peer_port.value()].peer_port =
          PortNum{static_cast<std::uint8_t>(p)};
    }
  }

  sim::FabricSpec spec_;
};

}  // namespace smd::test

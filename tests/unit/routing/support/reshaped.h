// Generated fabrics that lose cables and switches, and whose labels say nothing any more.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "sim-backend/topology/fabric_spec.h"
#include "sim-backend/topology/snapshot.h"
#include "tests/support/fabric_text.h"
#include "tests/support/relabel.h"

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
    sim::reorder(spec_, order);
    return *this;
  }

  Reshaped& without_host(const std::string& name) { return without_switch(name); }

  /// Nodes in another order, with other GUIDs, cables at other ports of their switches. Names stay.
  Reshaped& relabel(std::uint64_t seed) {
    sim::relabel(spec_, seed);
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

  sim::FabricSpec spec_;
};

}  // namespace smd::test

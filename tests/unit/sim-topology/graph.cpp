#include "tests/unit/sim-topology/graph.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <queue>
#include <sstream>

namespace smd::sim::testing {

FabricSpec draw(const std::string& call) {
  auto spec = load_fabric(call);
  if (!spec) {
    for (const Fault& fault : spec.error()) ADD_FAILURE() << print_fault(fault);
    return {};
  }
  EXPECT_EQ(check_spec(*spec), "") << call;
  return *spec;
}

bool is_switch(const FabricSpec& spec, std::uint32_t node) {
  return spec.nodes[node].type == NodeType::Switch;
}

std::uint32_t node_named(const FabricSpec& spec, const std::string& description) {
  for (std::uint32_t n = 0; n < spec.nodes.size(); ++n) {
    if (spec.nodes[n].description == description) return n;
  }
  ADD_FAILURE() << "no node " << description;
  return 0;
}

std::size_t count_switches(const FabricSpec& spec) {
  return static_cast<std::size_t>(
      std::ranges::count(spec.nodes, NodeType::Switch, &NodeSpec::type));
}

std::size_t count_hosts(const FabricSpec& spec) { return spec.nodes.size() - count_switches(spec); }

std::map<std::uint32_t, unsigned> switch_neighbours(const FabricSpec& spec, std::uint32_t node) {
  std::map<std::uint32_t, unsigned> found;
  for (const PortSpec& port : spec.nodes[node].ports) {
    if (port.peer_node != kNoNode && is_switch(spec, port.peer_node)) ++found[port.peer_node];
  }
  return found;
}

unsigned hosts_on(const FabricSpec& spec, std::uint32_t node) {
  unsigned hosts = 0;
  for (const PortSpec& port : spec.nodes[node].ports) {
    if (port.peer_node != kNoNode && !is_switch(spec, port.peer_node)) ++hosts;
  }
  return hosts;
}

std::map<unsigned, unsigned> switch_degrees(const FabricSpec& spec) {
  std::map<unsigned, unsigned> found;
  for (std::uint32_t n = 0; n < spec.nodes.size(); ++n) {
    if (!is_switch(spec, n)) continue;
    unsigned degree = 0;
    for (const auto& [peer, cables] : switch_neighbours(spec, n)) degree += cables;
    ++found[degree];
  }
  return found;
}

std::size_t count_switch_links(const FabricSpec& spec) {
  std::size_t ends = 0;
  for (const auto& [degree, switches] : switch_degrees(spec)) ends += degree * switches;
  return ends / 2;
}

std::size_t count_links(const FabricSpec& spec) {
  std::size_t ends = 0;
  for (const NodeSpec& node : spec.nodes) {
    for (const PortSpec& port : node.ports) ends += port.peer_node != kNoNode ? 1 : 0;
  }
  return ends / 2;
}

std::vector<int> distances(const FabricSpec& spec, std::uint32_t from) {
  std::vector<int> hops(spec.nodes.size(), -1);
  std::queue<std::uint32_t> open;
  hops[from] = 0;
  open.push(from);
  while (!open.empty()) {
    const std::uint32_t at = open.front();
    open.pop();
    for (const auto& [peer, cables] : switch_neighbours(spec, at)) {
      if (hops[peer] >= 0) continue;
      hops[peer] = hops[at] + 1;
      open.push(peer);
    }
  }
  return hops;
}

int diameter(const FabricSpec& spec) {
  int longest = 0;
  for (std::uint32_t from = 0; from < spec.nodes.size(); ++from) {
    if (!is_switch(spec, from)) continue;
    const std::vector<int> hops = distances(spec, from);
    for (std::uint32_t to = 0; to < spec.nodes.size(); ++to) {
      if (!is_switch(spec, to)) continue;
      if (hops[to] < 0) return -1;
      longest = std::max(longest, hops[to]);
    }
  }
  return longest;
}

std::vector<unsigned> coordinates(const FabricSpec& spec, std::uint32_t node) {
  std::istringstream name(spec.nodes[node].description);
  std::string part;
  std::getline(name, part, '-');
  std::vector<unsigned> numbers;
  while (std::getline(name, part, '-')) {
    numbers.push_back(static_cast<unsigned>(std::stoul(part)));
  }
  return numbers;
}

}  // namespace smd::sim::testing

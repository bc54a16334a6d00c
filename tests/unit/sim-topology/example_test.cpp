// The figures, cable by cable, from a list typed apart from the generator's.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>

#include "tests/unit/sim-topology/graph.h"

namespace smd::sim::testing {
namespace {

/// "S2.1-S3.4": type, label and port of both ends, the smaller label first.
std::set<std::string> cables_of(const FabricSpec& spec) {
  std::set<std::string> found;
  const auto end = [&spec](std::uint32_t node, std::size_t port) {
    return (is_switch(spec, node) ? "S" : "CA") + std::to_string(coordinates(spec, node)[0]) + "." +
           std::to_string(port);
  };
  for (std::uint32_t n = 0; n < spec.nodes.size(); ++n) {
    for (std::size_t p = 1; p < spec.nodes[n].ports.size(); ++p) {
      const PortSpec& port = spec.nodes[n].ports[p];
      if (port.peer_node == kNoNode) continue;
      if (coordinates(spec, n) > coordinates(spec, port.peer_node)) continue;
      found.insert(end(n, p) + "-" + end(port.peer_node, port.peer_port.value()));
    }
  }
  return found;
}

std::set<std::string> words(const std::string& text) {
  std::istringstream in(text);
  std::set<std::string> found;
  for (std::string word; in >> word;) found.insert(word);
  return found;
}

const char* const kFig67 =
    "CA1.1-S2.3 S2.1-S3.4 S2.2-S4.1 S3.1-S5.3 S3.2-S6.1 S3.3-CA7.1 S4.2-S8.1 S4.3-S9.1 S4.4-S6.2 "
    "S5.1-S10.1 S5.2-CA11.1 S6.3-S10.2 S6.4-CA12.1 S8.2-CA13.1 S9.2-CA14.1 S10.3-CA15.1";

std::set<std::string> sorted_ends(std::set<std::string> cables) {
  std::set<std::string> result;
  for (const std::string& cable : cables) {
    const auto dash = cable.find('-');
    const std::string a = cable.substr(0, dash);
    const std::string b = cable.substr(dash + 1);
    const auto label = [](const std::string& end) {
      return std::stoi(end.substr(end.find_first_of("0123456789")));
    };
    result.insert(label(a) < label(b) ? cable : b + "-" + a);
  }
  return result;
}

TEST(Example, Figure67) {
  const FabricSpec spec = draw("example");
  EXPECT_EQ(cables_of(spec), words(kFig67));
  EXPECT_EQ(spec.nodes[spec.sm_node].description, "node-1");
  EXPECT_EQ(spec.sm_port.value(), 1);
}

TEST(Example, Figure68AddsASwitchAndTwoAdapters) {
  auto expected = words(kFig67);
  expected.merge(sorted_ends(words("S16.2-S8.3 S16.4-S9.3 S16.1-CA17.1 S16.3-CA18.1")));
  const FabricSpec spec = draw("example:name=fig68");
  EXPECT_EQ(cables_of(spec), expected);
  EXPECT_EQ(spec.nodes[node_named(spec, "node-16")].guid, Guid{108});
  EXPECT_EQ(spec.nodes[node_named(spec, "node-17")].guid, Guid{208});
  EXPECT_EQ(spec.nodes[node_named(spec, "node-18")].guid, Guid{209});
}

TEST(Example, Figure69LosesSwitch3) {
  auto expected = words(kFig67);
  std::erase_if(expected, [](const std::string& cable) {
    return cable.starts_with("S3.") || cable.find("-S3.") != std::string::npos;
  });
  EXPECT_EQ(expected.size(), 12u);
  const FabricSpec spec = draw("example:name=fig69");
  EXPECT_EQ(cables_of(spec), expected);
  EXPECT_EQ(spec.nodes[node_named(spec, "node-7")].ports[1].peer_node, kNoNode);
}

TEST(Example, Figure76IsTheSameNetworkRenumbered) {
  const FabricSpec spec = draw("example:name=fig76");
  EXPECT_EQ(cables_of(spec),
            sorted_ends(words("S1.3-CA4.1 S1.1-S2.1 S1.2-S3.1 S2.2-S5.2 S2.3-S6.1 S2.4-CA7.1 "
                              "S3.2-S8.1 S3.3-S9.1 S3.4-S6.2 S5.1-S10.1 S5.3-CA11.1 S6.3-S10.2 "
                              "S6.4-CA12.1 S8.2-CA13.1 S9.2-CA14.1 S10.3-CA15.1")));
  EXPECT_EQ(spec.nodes[spec.sm_node].description, "node-1");
  EXPECT_EQ(spec.sm_port.value(), 0);
  // The device behind each label is that of figure 67.
  const FabricSpec other = draw("example");
  for (const auto& [here, there] : {std::pair{"node-1", "node-2"},
                                    std::pair{"node-2", "node-3"},
                                    std::pair{"node-3", "node-4"},
                                    std::pair{"node-4", "node-1"},
                                    std::pair{"node-15", "node-15"}}) {
    EXPECT_EQ(spec.nodes[node_named(spec, here)].guid, other.nodes[node_named(other, there)].guid);
  }
}

TEST(Example, GuidsAreThoseOfTheFigures) {
  const FabricSpec spec = draw("example");
  const std::map<std::string, std::uint64_t> given{{"node-1", 200},
                                                   {"node-2", 100},
                                                   {"node-3", 105},
                                                   {"node-4", 106},
                                                   {"node-8", 101},
                                                   {"node-9", 103}};
  for (const auto& [name, guid] : given) {
    EXPECT_EQ(spec.nodes[node_named(spec, name)].guid, Guid{guid}) << name;
  }
  // The adapter of switch 100+k is 200+k.
  for (std::uint32_t n = 0; n < spec.nodes.size(); ++n) {
    if (is_switch(spec, n)) continue;
    const NodeSpec& sw = spec.nodes[spec.nodes[n].ports[1].peer_node];
    EXPECT_EQ(spec.nodes[n].guid.value(), sw.guid.value() + 100) << spec.nodes[n].description;
  }
}

TEST(Example, FlichHasThreeLinksAndOneHostPerSwitch) {
  const FabricSpec spec = draw("example:name=flich");
  std::set<std::string> pairs;
  for (std::uint32_t n = 0; n < spec.nodes.size(); ++n) {
    if (!is_switch(spec, n)) continue;
    EXPECT_EQ(hosts_on(spec, n), 1u);
    for (const auto& [peer, cables] : switch_neighbours(spec, n)) {
      const unsigned a = coordinates(spec, n)[0];
      const unsigned b = coordinates(spec, peer)[0];
      if (a < b) pairs.insert(std::to_string(a) + "-" + std::to_string(b));
    }
  }
  EXPECT_EQ(pairs, words("0-2 0-4 0-5 1-2 1-5 1-6 2-7 3-5 3-6 3-7 4-6 4-7"));
}

}  // namespace
}  // namespace smd::sim::testing

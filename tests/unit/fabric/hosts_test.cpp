// Which adapters are of one host: by SystemImageGUID, whatever GUIDs are otherwise.
#include "smd/fabric/hosts.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fmt/core.h>

#include "smd/base/rng.h"
#include "smd/fabric/builder.h"
#include "tests/support/fabric_text.h"

namespace smd::test {
namespace hosts_test {

using ::testing::ElementsAre;

SystemNode adapter(std::uint64_t system, std::string_view description = {}) {
  return {.system = Guid{system}, .description = description};
}

TEST(Hosts, AdaptersOfOneSystemAreOfOneHost) {
  const std::vector<SystemNode> nodes{adapter(7), adapter(9), adapter(7), adapter(5), adapter(9)};
  const HostAdapters grouped = group_adapters(nodes);
  EXPECT_THAT(grouped.host, ElementsAre(0, 1, 0, 2, 1)) << "in the order of their first adapters";
  EXPECT_THAT(grouped.device, ElementsAre(0, 0, 1, 0, 1));
  EXPECT_THAT(grouped.adapters, ElementsAre(2, 2, 1));
  EXPECT_EQ(count_hosts(grouped), (HostCounts{.hosts = 3, .least = 1, .most = 2}));
}

TEST(Hosts, WhoNamesNoSystemIsAHostByItself) {
  const std::vector<SystemNode> nodes{adapter(0), adapter(3), adapter(0), adapter(3)};
  const HostAdapters grouped = group_adapters(nodes);
  EXPECT_THAT(grouped.host, ElementsAre(0, 1, 2, 1));
  EXPECT_THAT(grouped.adapters, ElementsAre(1, 2, 1));
}

TEST(Hosts, ASystemWithASwitchIsNone) {
  std::vector<SystemNode> nodes{adapter(4),
                                adapter(4),
                                {.type = NodeType::Switch, .system = Guid{4}},
                                {.type = NodeType::Switch, .system = Guid{6}},
                                adapter(8)};
  nodes.push_back({.type = NodeType::Switch, .system = Guid{6}});
  const HostAdapters grouped = group_adapters(nodes);
  EXPECT_THAT(grouped.host, ElementsAre(0, 1, kNoHost, kNoHost, 2, kNoHost));
  EXPECT_EQ(count_hosts(grouped), (HostCounts{.hosts = 3, .least = 1, .most = 1}));
  // Of switches that name no system nobody is a part.
  nodes[2].system = Guid{};
  EXPECT_THAT(group_adapters(nodes).host, ElementsAre(0, 0, kNoHost, kNoHost, 1, kNoHost));
}

TEST(Hosts, RoutersAndWhoSendsNoDataAreNone) {
  std::vector<SystemNode> nodes{adapter(4), adapter(4), adapter(4)};
  nodes[0].type = NodeType::Router;
  nodes[2].is_host = false;
  const HostAdapters grouped = group_adapters(nodes);
  EXPECT_THAT(grouped.host, ElementsAre(kNoHost, 0, kNoHost));
  EXPECT_THAT(grouped.adapters, ElementsAre(1));
}

TEST(Hosts, DevicesHaveTheNumbersThatTheyAreCalledBy) {
  const auto devices = [](std::vector<std::string> names) {
    std::vector<SystemNode> nodes;
    for (const std::string& name : names) nodes.push_back(adapter(1, name));
    return group_adapters(nodes).device;
  };
  EXPECT_THAT(devices({"gpu-7 mlx5_3", "gpu-7 mlx5_0", "gpu-7 mlx5_12"}), ElementsAre(3, 0, 12));
  EXPECT_THAT(devices({"node-1 HCA-6", "node-1 HCA-2"}), ElementsAre(6, 2));
  EXPECT_THAT(devices({"gpu-7 mlx5_3", "gpu-7 mlx5_3"}), ElementsAre(0, 1)) << "called alike";
  EXPECT_THAT(devices({"gpu-7 mlx5_3", "gpu-7"}), ElementsAre(0, 1)) << "not all are";
  EXPECT_THAT(devices({"gpu-7", "gpu-3"}), ElementsAre(0, 1)) << "the host's number";
  EXPECT_THAT(devices({"a 12", "a 7"}), ElementsAre(0, 1)) << "no device";
  EXPECT_THAT(devices({"a b_99999999999", "a b_7"}), ElementsAre(0, 1));
}

TEST(Hosts, CountsAreInPlainWords) {
  EXPECT_EQ(print_hosts({.hosts = 16, .least = 1, .most = 1}), "16 hosts");
  EXPECT_EQ(print_hosts({.hosts = 1, .least = 1, .most = 1}), "1 host");
  EXPECT_EQ(print_hosts({}), "0 hosts");
  EXPECT_EQ(print_hosts({.hosts = 16, .least = 4, .most = 4}), "16 hosts with 4 adapters each");
  EXPECT_EQ(print_hosts({.hosts = 1, .least = 4, .most = 4}), "1 host with 4 adapters");
  EXPECT_EQ(print_hosts({.hosts = 7, .least = 1, .most = 6}), "7 hosts with 1 to 6 adapters");
  const AdapterCounts no_data{.aggregation_nodes = 2};
  EXPECT_EQ(print_adapters(66, no_data, {.hosts = 16, .least = 4, .most = 4}),
            "66 adapters, 2 of them aggregation nodes (16 hosts with 4 adapters each)");
  EXPECT_EQ(print_adapters(18, no_data, {.hosts = 16, .least = 1, .most = 1}),
            print_adapters(18, no_data));
}

/// Four hosts on two switches, H1 and H3, H2 and H4 of one system each, under GUIDs as they come.
Fabric relabelled(std::uint64_t seed) {
  Rng rng(seed);
  const Fabric like = fabric_from("S1-S2 H1-S1 H2-S1 H3-S2 H4-S2");
  FabricBuilder builder;
  const Guid systems[2]{Guid{rng.next() | 1}, Guid{rng.next() | 1}};
  std::vector<NodeIdx> nodes;
  unsigned host = 0;
  for (const NodeIdx node : like.node_guid.indices()) {
    NodeInfo info = like.node_info[node];
    info.node_guid = info.port_guid = Guid{rng.next() >> 8};
    info.system_guid = like.is_switch(node) ? info.node_guid : systems[host++ % 2];
    nodes.push_back(builder.add_node(info));
    builder.set_description(nodes.back(), like.description[node]);
  }
  for (const PortIdx port : like.peer.indices()) {
    const PortIdx peer = like.peer[port];
    if (peer == kNone<PortIdx> || peer < port) continue;
    builder.add_link(nodes[like.node_of[port].value()],
                     like.number_of(port),
                     nodes[like.node_of[peer].value()],
                     like.number_of(peer));
  }
  return *builder.build(Epoch{1});
}

TEST(Hosts, AreNumberedAlikeWhateverTheGuidsAre) {
  const HostAdapters first = group_adapters(relabelled(1));
  EXPECT_EQ(count_hosts(first), (HostCounts{.hosts = 2, .least = 2, .most = 2}));
  for (std::uint64_t seed = 2; seed < 40; ++seed) {
    const HostAdapters other = group_adapters(relabelled(seed));
    EXPECT_EQ(other.host, first.host) << seed;
    EXPECT_EQ(other.device, first.device) << seed;
  }
}

TEST(Hosts, WhomTheOperatorExceptsIsNoAdapterOfOne) {
  const Fabric fabric = relabelled(1);
  SiteNodes rules{.no_data = {"H1"}};
  const auto without = with_traffic(fabric, std::make_shared<const SiteNodes>(std::move(rules)));
  EXPECT_EQ(count_hosts(*without), (HostCounts{.hosts = 2, .least = 1, .most = 2}));
}

TEST(HostPorts, RailsAreDevicesAndPortNumbers) {
  // Two hosts of three adapters, one of which is missing at the second; one of one adapter.
  std::vector<SystemNode> nodes{adapter(1, "a mlx5_0"),
                                adapter(1, "a mlx5_1"),
                                adapter(1, "a mlx5_2"),
                                adapter(2, "b mlx5_2"),
                                adapter(2, "b mlx5_0"),
                                adapter(3, "c")};
  const HostAdapters grouped = group_adapters(nodes);
  std::vector<AdapterPort> ports;
  for (std::uint32_t node = 0; node < nodes.size(); ++node) ports.push_back({node, PortNum{1}});
  HostPorts found = group_ports(grouped, ports);
  EXPECT_THAT(found.host, ElementsAre(0, 0, 0, 1, 1, 2));
  EXPECT_THAT(found.rail, ElementsAre(0, 1, 2, 2, 0, 0));
  EXPECT_EQ(found.hosts, 3u);
  EXPECT_EQ(found.rails, 3u);
  EXPECT_FALSE(found.are_apart());
  // Two ports of one adapter are a host each, as ever; on rails of their own.
  found = group_ports(grouped, std::vector<AdapterPort>{{5, PortNum{1}}, {5, PortNum{2}}});
  EXPECT_THAT(found.host, ElementsAre(0, 1));
  EXPECT_THAT(found.rail, ElementsAre(0, 1));
  EXPECT_TRUE(found.are_apart());
}

}  // namespace hosts_test
}  // namespace smd::test

#include "smd/fabric/fabric.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <utility>

#include "smd/fabric/builder.h"
#include "tests/support/fabric_text.h"

namespace smd::test {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::SizeIs;

TEST(Fabric, PortsOfANodeAreContiguousAndNumberedFromZero) {
  const Fabric f = fabric_from("S1-S2 S1-H1");
  const NodeIdx s1 = node(f, "S1");
  EXPECT_EQ(f.num_ports(s1), 2u);
  EXPECT_EQ(f.ports_of(s1).size(), 3u);
  EXPECT_EQ(f.external_ports(s1).size(), 2u);
  EXPECT_EQ(f.number_of(f.port_of(s1, PortNum{2})), PortNum{2});
  EXPECT_EQ(f.port_count(), 3u + 2u + 2u);
  EXPECT_EQ(f.first_port[NodeIdx{3}], f.port_count());
}

TEST(Fabric, PeersAreSymmetric) {
  const Fabric f = fabric_from("S1:3-S2:4 S1:5-S1:5 S1-H1");
  EXPECT_EQ(f.peer[port(f, "S1:3")], port(f, "S2:4"));
  EXPECT_EQ(f.peer[port(f, "S2:4")], port(f, "S1:3"));
  EXPECT_EQ(f.peer[port(f, "S1:5")], port(f, "S1:5"));
  EXPECT_EQ(f.peer[port(f, "S1:2")], kNone<PortIdx>);
  EXPECT_EQ(f.link_count(), 2u) << "a loop-back cable joins no two ports";
}

TEST(Fabric, EndPortsAreSwitchPortZeroAndConnectedAdapterPorts) {
  //  H1 has two ports, one of them open; R1 is an end node as well.
  const Fabric f = fabric_from("H1/2 S1-H1 S1-R1 H2:1-H2:1");
  EXPECT_TRUE(f.is_end_port(port(f, "S1:0")));
  EXPECT_FALSE(f.is_end_port(port(f, "S1:1")));
  EXPECT_TRUE(f.is_end_port(port(f, "H1:1")));
  EXPECT_FALSE(f.is_end_port(port(f, "H1:2")));
  EXPECT_FALSE(f.is_end_port(port(f, "H1:0")));
  EXPECT_TRUE(f.is_end_port(port(f, "R1:1")));
  EXPECT_FALSE(f.is_end_port(port(f, "H2:1"))) << "its cable leads back to itself";
}

// Two hosts, a router, an aggregation node by its device and one by its description.
Fabric with_idle_adapters(SiteNodes rules = {}) {
  Fabric f = fabric_from("S1-H1 S1-H2 S1-R1 S1-H3 S1-H4");
  NodeInfo& info = f.node_info[node(f, "H3")];
  info.vendor_id = 0x2c9;
  info.device_id = 0xcf09;
  return *with_descriptions(
      f,
      {{f.node_guid[node(f, "H4")], "Mellanox Technologies Aggregation Node"}},
      std::make_shared<const SiteNodes>(std::move(rules)));
}

std::vector<Guid> hosts_of(const Fabric& f) {
  std::vector<Guid> hosts;
  for (const PortIdx p : f.peer.indices()) {
    if (f.is_host(p)) hosts.push_back(f.node_guid[f.node_of[p]]);
  }
  return hosts;
}

TEST(Traffic, AggregationNodesAndRoutersAreNoHosts) {
  const Fabric f = with_idle_adapters();
  EXPECT_THAT(hosts_of(f), ElementsAre(Guid{0x20100}, Guid{0x20200}));
  EXPECT_EQ(count_no_data(f), (AdapterCounts{.aggregation_nodes = 2, .routers = 1}));
  EXPECT_EQ(print_adapters(5, count_no_data(f)),
            "5 adapters, 2 of them aggregation nodes, 1 router");
  EXPECT_EQ(print_adapters(3, {}), "3 adapters");
}

TEST(Traffic, AnotherVendorsDeviceIsAHost) {
  Fabric f = fabric_from("S1-H1");
  f.node_info[node(f, "H1")].vendor_id = 0x1175;
  f.node_info[node(f, "H1")].device_id = 0xcf09;
  EXPECT_THAT(hosts_of(*with_traffic(f, nullptr)), SizeIs(1));
}

TEST(Traffic, TheOperatorExceptsByGuidAndByDescription) {
  for (const char* said : {"0x20100", "0x20101", "H1", "H1*", "?1", "*1", "*", "H*1*"}) {
    const std::vector<Guid> hosts = hosts_of(with_idle_adapters({.no_data = {said}}));
    EXPECT_THAT(hosts, Not(Contains(Guid{0x20100}))) << said;
    EXPECT_EQ(hosts.empty(), std::string(said) == "*") << said;
  }
  for (const char* said : {"0x20102", "H", "h1", "1", "??1", "H1?", "0xH1", ""})
    EXPECT_THAT(hosts_of(with_idle_adapters({.no_data = {said}})), SizeIs(2)) << said;
  EXPECT_EQ(count_no_data(with_idle_adapters({.no_data = {"H1"}})).excepted, 1u);
}

TEST(Traffic, AWeightGoesBeforeWhatANodeLooksLike) {
  const Fabric f = with_idle_adapters(
      {.weights = {{Guid{0x1001}, 3}, {Guid{0x20101}, 0}, {Guid{0x20301}, 1}, {Guid{0x20401}, 7}}});
  EXPECT_THAT(hosts_of(f), ElementsAre(Guid{0x20200}, Guid{0x20300}, Guid{0x20400}));
  EXPECT_EQ(f.demand_of(port(f, "S1:0")), 3u);
  EXPECT_EQ(f.demand_of(end_port(f, "H1")), 0u);
  EXPECT_EQ(f.demand_of(f.port_of(*f.find_node(Guid{0x20400}), PortNum{1})), 7u);
}

/// All of a snapshot, but what follows from it, put into a builder that began with nothing.
std::shared_ptr<const Fabric> built_anew(const Fabric& f) {
  FabricBuilder builder;
  for (const NodeIdx n : f.node_guid.indices()) {
    builder.add_node(f.node_info[n]);
    builder.set_description(n, f.description[n]);
    for (const PortIdx p : f.ports_of(n)) builder.set_port_guid(n, f.number_of(p), f.port_guid[p]);
  }
  for (const PortIdx p : f.peer.indices()) {
    const PortIdx peer = f.peer[p];
    if (peer != kNone<PortIdx>)
      builder.add_link(f.node_of[p], f.number_of(p), f.node_of[peer], f.number_of(peer));
  }
  builder.set_site_nodes(f.site_nodes);
  return builder.build(Epoch{1});
}

TEST(Traffic, AChangedSnapshotSaysWhatOneBuiltAnewSays) {
  auto now = std::make_shared<const Fabric>(fabric_from("S1-H1 S1-H2 S1-R1 S1-H3 S1/9"));
  const auto change = [&](const char* what, auto&& step) {
    FabricBuilder builder(*now);
    step(builder);
    const auto before = std::exchange(now, builder.build(Epoch{2}));
    EXPECT_EQ(now->demand, built_anew(*now)->demand) << what;
    EXPECT_EQ(check_invariants(*now), "") << what;
    return now->demand != before->demand;
  };
  const auto rules = [](SiteNodes say) {
    return std::make_shared<const SiteNodes>(std::move(say));
  };
  const NodeIdx h1 = node(*now, "H1"), h2 = node(*now, "H2"), h3 = node(*now, "H3");
  EXPECT_FALSE(change("nothing", [](FabricBuilder&) {}));
  EXPECT_TRUE(change("a description", [&](FabricBuilder& b) {
    b.set_description(h1, "Mellanox Technologies Aggregation Node");
  }));
  NodeInfo info = now->node_info[h2];
  info.vendor_id = 0x2c9;
  info.device_id = 0xcf09;
  EXPECT_TRUE(change("a device", [&](FabricBuilder& b) { b.set_node_info(h2, info); }));
  EXPECT_TRUE(change("rules", [&](FabricBuilder& b) {
    b.set_site_nodes(rules({.weights = {{Guid{0x1001}, 4}}, .no_data = {"H3"}}));
  }));
  EXPECT_TRUE(change("a name that is no longer meant",
                     [&](FabricBuilder& b) { b.set_description(h3, "H4"); }));
  EXPECT_TRUE(change("the GUID of a port that rules name", [&](FabricBuilder& b) {
    for (unsigned p = 0; p <= 9; ++p)
      b.set_port_guid(node(*now, "S1"), PortNum{static_cast<std::uint8_t>(p)}, Guid{0x77});
  }));
  EXPECT_TRUE(change("a node more", [](FabricBuilder& b) {
    const NodeIdx n = b.add_node({.node_type = static_cast<std::uint8_t>(NodeType::Ca),
                                  .num_ports = 1,
                                  .node_guid = Guid{0x5000},
                                  .device_id = 0xcf09,
                                  .vendor_id = 0x2c9});
    b.add_link(NodeIdx{0}, PortNum{9}, n, PortNum{1});
  }));
  EXPECT_FALSE(
      change("a cable less", [](FabricBuilder& b) { b.remove_link(NodeIdx{0}, PortNum{9}); }));

  // What is learned or said of it later, likewise.
  const auto learned = [&](const char* what, std::shared_ptr<const Fabric> next) {
    now = std::move(next);
    EXPECT_EQ(now->demand, built_anew(*now)->demand) << what;
  };
  learned("names", with_descriptions(*now, {{Guid{0x20300}, "H3"}}, now->site_nodes));
  EXPECT_EQ(now->demand_of(end_port(*now, "H3")), 0u);
  learned("the same names under other rules", with_descriptions(*now, {}, rules({.no_data = {}})));
  EXPECT_EQ(now->demand_of(end_port(*now, "H3")), 1u);
  learned("no rules", with_traffic(*now, nullptr));
}

TEST(Fabric, FindsNodesByGuid) {
  const Fabric f = fabric_from("S1-S2");
  EXPECT_EQ(f.find_node(Guid{0x1002}), node(f, "S2"));
  EXPECT_EQ(f.find_node(Guid{0x1003}), std::nullopt);
}

TEST(Fabric, PrintsPortsByDescriptionElseByGuid) {
  Fabric f = fabric_from("S1-S2");
  EXPECT_EQ(print_port(f, port(f, "S2:1")), "S2:1");
  const PortIdx p = port(f, "S2:1");
  f.description[node(f, "S2")].clear();
  EXPECT_EQ(print_port(f, p), "0x0000000000001002:1");
  EXPECT_EQ(print_port(f, kNone<PortIdx>), "no port");
}

TEST(FabricBuilder, APortLinkedTwiceKeepsTheNewerLink) {
  FabricBuilder builder;
  NodeInfo info;
  info.node_type = 2;
  info.num_ports = 2;
  for (std::uint64_t guid : {1, 2, 3}) {
    info.node_guid = info.port_guid = Guid{guid};
    builder.add_node(info);
  }
  builder.add_link(NodeIdx{0}, PortNum{1}, NodeIdx{1}, PortNum{1});
  builder.add_link(NodeIdx{0}, PortNum{1}, NodeIdx{2}, PortNum{2});
  const auto f = builder.build(Epoch{7});
  EXPECT_EQ(f->epoch, Epoch{7});
  EXPECT_EQ(f->peer[f->port_of(NodeIdx{1}, PortNum{1})], kNone<PortIdx>);
  EXPECT_EQ(f->peer[f->port_of(NodeIdx{0}, PortNum{1})], f->port_of(NodeIdx{2}, PortNum{2}));
  EXPECT_EQ(check_invariants(*f), "");
  builder.remove_link(NodeIdx{2}, PortNum{2});
  EXPECT_EQ(builder.build(Epoch{8})->link_count(), 0u);
  EXPECT_EQ(f->link_count(), 1u) << "a snapshot does not change";
}

TEST(FabricBuilder, ALoopBackCableCanBeRemoved) {
  FabricBuilder builder;
  NodeInfo info;
  info.node_type = 2;
  info.num_ports = 1;
  const NodeIdx s = builder.add_node(info);
  builder.add_link(s, PortNum{1}, s, PortNum{1});
  EXPECT_EQ(builder.build(Epoch{1})->peer[PortIdx{1}], PortIdx{1});
  builder.remove_link(s, PortNum{1});
  EXPECT_EQ(builder.build(Epoch{2})->peer[PortIdx{1}], kNone<PortIdx>);
}

TEST(FabricBuilder, AnEmptyFabricIsAFabric) {
  const auto f = FabricBuilder{}.build(Epoch{1});
  EXPECT_EQ(f->node_count(), 0u);
  EXPECT_EQ(check_invariants(*f), "");
}

struct Violation {
  const char* name;
  std::function<void(Fabric&)> inject;
  const char* message;
};

class Invariants : public ::testing::TestWithParam<Violation> {};

TEST_P(Invariants, EveryViolationIsNamed) {
  Fabric f = fabric_from("S1:1-S2:1 S2:2-H1:1 S1:2-H2:1 S1/3 H3/1");
  ASSERT_EQ(check_invariants(f), "");
  GetParam().inject(f);
  EXPECT_THAT(check_invariants(f), HasSubstr(GetParam().message));
}

const Violation kViolations[] = {
    {"FirstPortLength", [](Fabric& f) { f.first_port.push_back(99); }, "first_port has 7 entries"},
    {"NodeArrays", [](Fabric& f) { f.description.push_back(""); }, "per node differ"},
    {"FirstPortStart", [](Fabric& f) { f.first_port[NodeIdx{0}] = 1; }, "does not start at 0"},
    {"NoPortZero",
     [](Fabric& f) { f.first_port[NodeIdx{1}] = f.first_port[NodeIdx{2}]; },
     "has 6 ports, its NodeInfo says 3"},
    {"EmptyNode", [](Fabric& f) { f.first_port[NodeIdx{1}] = 0; }, "node 0 has no port 0"},
    {"PortCount", [](Fabric& f) { f.node_info[NodeIdx{0}].num_ports = 9; }, "its NodeInfo says 9"},
    {"GuidTwice",
     [](Fabric& f) {
       f.node_guid[NodeIdx{1}] = f.node_guid[NodeIdx{0}];
       f.node_info[NodeIdx{1}].node_guid = f.node_guid[NodeIdx{0}];
     },
     "is node 0 and node 1"},
    {"GuidOfNodeInfo",
     [](Fabric& f) { f.node_info[NodeIdx{1}].node_guid = Guid{5}; },
     "in its NodeInfo"},
    {"GuidUnknown",
     [](Fabric& f) {
       NodeByGuid fewer = *f.node_by_guid;
       fewer.erase(Guid{0x1001});
       f.node_by_guid = fewer;
     },
     "cannot be looked up"},
    {"GuidExtra",
     [](Fabric& f) {
       NodeByGuid more = *f.node_by_guid;
       more[Guid{77}] = NodeIdx{0};
       f.node_by_guid = more;
     },
     "not here"},
    {"SwitchArrays", [](Fabric& f) { f.switch_info.push_back({}); }, "per switch differ"},
    {"SwitchKind",
     [](Fabric& f) { f.switch_of[node(f, "H1")] = SwitchIdx{0}; },
     "in only one of switch_of and NodeInfo"},
    {"SwitchOrder",
     [](Fabric& f) { std::swap(f.switch_of[NodeIdx{0}], f.switch_of[NodeIdx{1}]); },
     "do not follow node order"},
    {"SwitchExtra",
     [](Fabric& f) {
       f.switch_node.push_back(NodeIdx{2});
       f.switch_info.push_back({});
     },
     "names a node that is no switch"},
    {"PortArrays", [](Fabric& f) { f.port_info.push_back({}); }, "per port differ"},
    {"PortSentinel",
     [](Fabric& f) {
       f.peer.push_back(kNone<PortIdx>);
       f.node_of.push_back(NodeIdx{0});
       f.port_guid.push_back({});
       f.port_info.push_back({});
     },
     "does not end at the last port"},
    {"NodeOf", [](Fabric& f) { f.node_of[PortIdx{1}] = NodeIdx{1}; }, "port 1 is not of node 0"},
    {"PeerRange", [](Fabric& f) { f.peer[PortIdx{3}] = PortIdx{999}; }, "which does not exist"},
    {"PeerOneWay",
     [](Fabric& f) { f.peer[port(f, "S1:3")] = port(f, "S2:1"); },
     "S1:3 leads to S2:1, but not back"},
    {"PortZeroCable",
     [](Fabric& f) { f.peer[port(f, "S1:0")] = port(f, "S1:0"); },
     "port 0 is never connected"},
    {"SwitchPortGuid",
     [](Fabric& f) { f.port_guid[port(f, "S1:2")] = Guid{1}; },
     "port GUID of its own"},
    {"ManagerPortAlone", [](Fabric& f) { f.sm_node = kNone<NodeIdx>; }, "a port but no node"},
    {"ManagerNode", [](Fabric& f) { f.sm_node = NodeIdx{99}; }, "node does not exist"},
    {"ManagerPort", [](Fabric& f) { f.sm_port = port(f, "S2:1"); }, "not of its node"},
    {"ManagerSwitchPort", [](Fabric& f) { f.sm_port = port(f, "S1:1"); }, "port 0 of a switch"},
    {"DemandOfANodeThatIsAnother",
     [](Fabric& f) { f.description[node(f, "H1")] = "Mellanox Technologies Aggregation Node"; },
     "demand is not what"},
    {"DemandOfRulesThatAreOthers",
     [](Fabric& f) {
       f.site_nodes = std::make_shared<const SiteNodes>(SiteNodes{.no_data = {"H2"}});
     },
     "demand is not what"},
    {"DemandExtra",
     [](Fabric& f) { f.demand.emplace_back(port(f, "H1:1"), 0); },
     "demand is not what"},
};

INSTANTIATE_TEST_SUITE_P(All, Invariants, ::testing::ValuesIn(kViolations), [](const auto& row) {
  return std::string{row.param.name};
});

TEST(LidMap, OwnsEveryLidOfARange) {
  const Fabric f = fabric_from("S1-H1");
  LidMap map = make_lid_map(f);
  EXPECT_EQ(map.top, kUnassignedLid);
  EXPECT_EQ(map.owner_of(Lid{3}), kNone<PortIdx>);
  set_lid(map, port(f, "H1:1"), Lid{4}, 1);
  set_lid(map, port(f, "S1:0"), Lid{2}, 0);
  EXPECT_EQ(map.owner_of(Lid{4}), port(f, "H1:1"));
  EXPECT_EQ(map.owner_of(Lid{5}), port(f, "H1:1"));
  EXPECT_EQ(map.owner_of(Lid{3}), kNone<PortIdx>);
  EXPECT_EQ(map.top, Lid{5});
  EXPECT_EQ(map.base[port(f, "S1:0")], Lid{2});
}

TEST(LidMapDeathTest, ALidIsGivenOnce) {
  const Fabric f = fabric_from("S1-H1");
  LidMap map = make_lid_map(f);
  set_lid(map, port(f, "H1:1"), Lid{4}, 1);
  EXPECT_DEATH(set_lid(map, port(f, "S1:0"), Lid{5}, 0), "taken");
  EXPECT_DEATH(set_lid(map, port(f, "S1:0"), Lid{0xbfff}, 1), "unicast");
}

}  // namespace
}  // namespace smd::test

// Whole bring-ups, judged by the registers of the simulated nodes and not by what the manager
// believes.
#include <gtest/gtest.h>

#include <algorithm>
#include <utility>

#include "sim-backend/agents/node_state.h"
#include "smd/base/log.h"
#include "smd/policy/partition_file.h"
#include "smd/policy/qos_rules.h"
#include "tests/support/subnet_oracles.h"

namespace smd::test {
namespace {

class BringUp : public testing::TestWithParam<const char*> {};

TEST_P(BringUp, EveryPortIsActiveAndEveryPairConnected) {
  const unsigned long errors = log::count(log::Level::Error);
  SimulatedSubnet subnet(spec_of(GetParam()));
  ASSERT_TRUE(subnet.start());
  const CycleReport& cycle = *subnet.manager.last_cycle();
  EXPECT_TRUE(cycle.up()) << (cycle.error ? cycle.error->context : "");
  EXPECT_EQ(find_inactive_port(subnet), "");
  EXPECT_EQ(find_broken_route(subnet), "");
  EXPECT_EQ(cycle.counts.switches + cycle.counts.cas, count_reachable(subnet));
  EXPECT_EQ(log::count(log::Level::Error), errors);
}

TEST_P(BringUp, NodesAreKnownByTheirDescriptionsAfterwards) {
  SimulatedSubnet subnet(spec_of(GetParam()));
  ASSERT_TRUE(subnet.start());
  const Fabric& fabric = subnet.manager.in_force()->fabric();
  EXPECT_EQ(fabric.node_count(), count_reachable(subnet));
  for (const sim::NodeSpec& node : subnet.fabric.spec().nodes) {
    const auto found = fabric.find_node(node.guid);
    if (!found) continue;  // fig69 has an adapter without a way to it
    EXPECT_EQ(fabric.description[*found], node.description);
  }
}

INSTANTIATE_TEST_SUITE_P(Fabrics,
                         BringUp,
                         testing::Values("example:name=fig67",
                                         "example:name=fig68",
                                         "example:name=fig69",
                                         "example:name=fig76",
                                         "example:name=flich",
                                         "fat-tree:k=4,levels=2",
                                         "fat-tree:k=8,levels=3",
                                         "torus:dims=4.4",
                                         "torus:dims=3.3.3,mesh=1",
                                         "hypercube:dim=4",
                                         "dragonfly:a=4,c=2,h=2",
                                         "hamming:dims=4.4",
                                         "clos:m=3,n=1,r=4",
                                         "bmin:k=2,stages=3",
                                         "irregular:switches=16,seed=3",
                                         "irregular4:switches=16,nodes=30,seed=5",
                                         "fat-tree:k=4,levels=2,speed=NDR",
                                         "fat-tree:k=4,levels=2,speed=XDR,width=2x",
                                         "fat-tree:k=4,levels=2,speed=SDR,width=12x"));

TEST(BringUpTwice, ARestartedManagerWritesNothingAndMovesNoLid) {
  SimulatedSubnet first(spec_of("fat-tree:k=4,levels=3"));
  ASSERT_TRUE(first.start());
  const LidBook before = first.kept().lids;

  // A second manager on the same port of the same living fabric, with the book of the first.
  first.transport.set_handlers([](const MadPacket&) {}, [](Error) {});
  SimulatedManager life(first, {.kept = first.kept()});
  const SubnetManager& second = life.manager;
  life.manager.start();
  ASSERT_TRUE(first.run_until([&] { return second.cycles() == 1 && life.at_rest(); },
                              std::chrono::minutes(1)));
  EXPECT_TRUE(second.last_cycle()->up());
  EXPECT_EQ(second.last_cycle()->blocks_written, 0u);
  EXPECT_EQ(second.last_cycle()->activate.smps, 0u);
  EXPECT_EQ(find_broken_route(first), "");
  for (const auto& [guid, record] : before) {
    const Fabric& fabric = second.in_force()->fabric();
    for (PortIdx port : fabric.peer.indices()) {
      if (fabric.port_guid[port] != guid || second.in_force()->lids->base[port] == kUnassignedLid)
        continue;
      EXPECT_EQ(second.in_force()->lids->base[port], record.base);
    }
  }
}

TEST(BringUpTwice, ASecondSweepOverASettledFabricWritesNothing) {
  SimulatedSubnet subnet(spec_of("dragonfly:a=4,c=2,h=2"));
  ASSERT_TRUE(subnet.start());
  subnet.manager.request_sweep("test");
  ASSERT_TRUE(subnet.settle());
  const CycleReport& cycle = *subnet.manager.last_cycle();
  EXPECT_TRUE(cycle.up());
  EXPECT_EQ(cycle.configure.smps + cycle.tables.smps + cycle.activate.smps, 0u);
  EXPECT_EQ(cycle.lft_entries_changed_pct, 0.0);
}

TEST(BringUpLmc, EveryLidOfARangeIsRouted) {
  SimulatedSubnetOptions options;
  options.settings.lids.lmc = 2;
  SimulatedSubnet subnet(spec_of("fat-tree:k=4,levels=2"), options);
  ASSERT_TRUE(subnet.start());
  const CycleReport& cycle = *subnet.manager.last_cycle();
  EXPECT_TRUE(cycle.up());
  const std::uint32_t host = subnet.node("host-00001");
  const PortInfo info = subnet.fabric.port_info(host, PortNum{1});
  EXPECT_EQ(info.lmc, 2);
  EXPECT_EQ(info.lid.value() % 4, 0);
  EXPECT_EQ(cycle.counts.lids, cycle.counts.cas * 4 + cycle.counts.switches);
  EXPECT_EQ(find_broken_route(subnet), "");
}

TEST(BringUpPorts, ConfigurationReachesTheRegisters) {
  SimulatedSubnetOptions options;
  options.settings.ports.mtu_max = Mtu::B2048;
  options.settings.ports.max_operational_vls = 2;
  options.settings.ports.subnet_timeout = 17;
  options.settings.ports.hoq_life = 15;
  options.settings.ports.leaf_hoq_life = 12;
  SimulatedSubnet subnet(spec_of("fat-tree:k=4,levels=2"), options);
  ASSERT_TRUE(subnet.start());
  const std::uint32_t host = subnet.node("host-00001");
  const sim::PortSpec& cable = subnet.fabric.spec().nodes[host].ports[1];
  const PortInfo host_port = subnet.fabric.port_info(host, PortNum{1});
  const PortInfo leaf_port = subnet.fabric.port_info(cable.peer_node, cable.peer_port);
  EXPECT_EQ(host_port.neighbor_mtu, static_cast<std::uint8_t>(Mtu::B2048));
  EXPECT_EQ(host_port.operational_vls, 2);
  EXPECT_EQ(host_port.subnet_timeout, 17);
  EXPECT_EQ(leaf_port.operational_vls, 2);
  EXPECT_EQ(leaf_port.hoq_life, 12);
  const Lid sm_lid =
      subnet.fabric.port_info(subnet.fabric.spec().sm_node, subnet.fabric.spec().sm_port).lid;
  EXPECT_EQ(host_port.master_sm_lid, sm_lid);
  EXPECT_EQ(subnet.fabric.switch_info(cable.peer_node).linear_fdb_top,
            subnet.manager.in_force()->lids->top.value());
}

TEST(BringUpPorts, ABasePort0HasNoState) {
  for (const PortState state : {PortState::NoChange, PortState::Down, PortState::Initialize}) {
    SimulatedSubnetOptions options;
    options.agents.base_port0_state = state;
    sim::FabricSpec spec = spec_of("fat-tree:k=4,levels=2");
    for (sim::NodeSpec& node : spec.nodes) node.enhanced_port0 = false;
    SimulatedSubnet subnet(std::move(spec), options);
    ASSERT_TRUE(subnet.start());
    EXPECT_TRUE(subnet.manager.last_cycle()->up()) << print_port_state(state);
    EXPECT_EQ(subnet.manager.last_cycle()->ports_down_after, 0u);
    EXPECT_EQ(subnet.manager.last_cycle()->fault_count, 0u);
    EXPECT_EQ(find_broken_route(subnet), "");
    subnet.manager.request_sweep("test");
    ASSERT_TRUE(subnet.settle());
    const CycleReport& again = *subnet.manager.last_cycle();
    EXPECT_TRUE(again.up());
    EXPECT_EQ(again.configure.smps + again.tables.smps + again.activate.smps, 0u);
  }
}

// As another tool left it: the port would sleep from the next loss of its link on.
TEST(BringUpPorts, NoLinkSleepsOnceItIsLost) {
  SimulatedSubnetOptions options;
  options.settings = quiet_settings();
  options.agents.link_down_default_state = PhysState::Sleep;
  SimulatedSubnet subnet(spec_of("fat-tree:k=4,levels=2"), options);
  ASSERT_TRUE(subnet.start());
  const std::uint32_t host = subnet.node("host-00001");
  for (const bool up : {false, true}) {
    subnet.fabric.set_link(host, PortNum{1}, up);
    subnet.manager.request_sweep("test");
    ASSERT_TRUE(subnet.settle());
  }
  EXPECT_EQ(subnet.fabric.port_info(host, PortNum{1}).state(), PortState::Active);
  EXPECT_EQ(find_inactive_port(subnet), "");
  EXPECT_EQ(subnet.manager.last_cycle()->fault_count, 0u);
}

TEST(BringUpPorts, TheSnapshotSaysWhatThePortsSayNow) {
  SimulatedSubnet subnet(spec_of("fat-tree:k=4,levels=2"));
  ASSERT_TRUE(subnet.start());
  const ActiveSubnet& now = *subnet.manager.in_force();
  const NodeIdx host =
      now.fabric().find_node(subnet.fabric.spec().nodes[subnet.node("host-00001")].guid).value();
  const PortIdx port = now.fabric().port_of(host, PortNum{1});
  PortInfo held = subnet.fabric.port_info(subnet.node("host-00001"), PortNum{1});
  held.local_port = now.fabric().port_info[port].local_port;  // says where the question arrived
  EXPECT_EQ(now.fabric().port_info[port], held);
  EXPECT_EQ(now.fabric().port_info[port].state(), PortState::Active);
  EXPECT_EQ(now.fabric().port_info[port].lid, now.lids->base[port]);
}

TEST(BringUpPorts, Fdr10IsToldFromQdr) {
  for (const auto& [name, speed] :
       {std::pair{"fat-tree:k=4,levels=2,speed=FDR10", LinkSpeed::Fdr10},
        std::pair{"fat-tree:k=4,levels=2,speed=QDR", LinkSpeed::Qdr}}) {
    SimulatedSubnet subnet(spec_of(name));
    ASSERT_TRUE(subnet.start());
    const Fabric& fabric = subnet.manager.in_force()->fabric();
    for (PortIdx port : fabric.peer.indices()) {
      if (fabric.peer[port] != kNone<PortIdx>) {
        EXPECT_EQ(link_speed(fabric, port), speed) << name;
      }
    }
  }
}

TEST(BringUpQos, ConfiguredRowsReachSwitchesAndHosts) {
  SimulatedSubnetOptions options;
  SlToVl row;
  for (std::size_t sl = 0; sl < row.size(); ++sl) row[sl] = Vl{static_cast<std::uint8_t>(sl % 2)};
  options.settings.qos.sl_to_vl = row;
  SimulatedSubnet subnet(spec_of("fat-tree:k=4,levels=2"), options);
  ASSERT_TRUE(subnet.start());
  EXPECT_TRUE(subnet.manager.last_cycle()->up());
  EXPECT_EQ(subnet.fabric.sl_to_vl(subnet.node("sw-0-0"), PortNum{1}, PortNum{3}), row);
  EXPECT_EQ(subnet.fabric.sl_to_vl(subnet.node("host-00001"), PortNum{1}, PortNum{0}), row);
}

TEST(BringUpQos, KindsOfPortsHaveTablesOfTheirOwn) {
  SimulatedSubnetOptions options;
  const auto ca = static_cast<std::size_t>(PortKind::Ca);
  const auto swe = static_cast<std::size_t>(PortKind::SwitchExternal);
  QosPolicy& qos = options.settings.qos;
  SlToVl row;
  row.fill(Vl{1});
  qos.sl_to_vl = row;
  row.fill(Vl{2});
  qos.kinds[ca].sl_to_vl = row;
  qos.high = std::vector<VlArbEntry>{{.vl = Vl{1}, .weight = 11}};
  qos.kinds[swe].high = std::vector<VlArbEntry>{{.vl = Vl{1}, .weight = 22}};
  options.settings.ports.vl_high_limit[ca] = 3;
  options.settings.ports.vl_high_limit[swe] = 9;
  SimulatedSubnet subnet(spec_of("fat-tree:k=4,levels=2"), options);
  ASSERT_TRUE(subnet.start());
  EXPECT_TRUE(subnet.manager.last_cycle()->up());
  const std::uint32_t host = subnet.node("host-00001");
  const std::uint32_t leaf = subnet.node("sw-0-0");
  EXPECT_EQ(subnet.fabric.sl_to_vl(host, PortNum{1}, PortNum{0})[5], Vl{2});
  EXPECT_EQ(subnet.fabric.sl_to_vl(leaf, PortNum{1}, PortNum{3})[5], Vl{1});
  EXPECT_EQ(subnet.fabric.port_info(host, PortNum{1}).vl_high_limit, 3);
  EXPECT_EQ(subnet.fabric.port_info(leaf, PortNum{1}).vl_high_limit, 9);
  EXPECT_EQ(subnet.fabric.node_state(host).ports[1].vl_arb->high[0].weight, 11);
  EXPECT_EQ(subnet.fabric.node_state(leaf).ports[1].vl_arb->high[0].weight, 22);
}

/// A VL without an entry of any weight never sends: routes must not take one.
TEST(BringUpQos, RoutesTakeNoVlThatArbitrationLeavesOut) {
  const auto routes_of = [](const char* engine, const QosPolicy& qos) {
    SimulatedSubnetOptions options;
    options.settings.engine = engine;
    options.settings.qos = qos;
    SimulatedSubnet subnet(spec_of("torus:dims=5.5"), options);
    EXPECT_TRUE(subnet.start());
    EXPECT_TRUE(subnet.manager.last_cycle()->up());
    return subnet.manager.in_force()->routing->vls;
  };
  EXPECT_GT(routes_of("nue", {}), 2u);
  QosPolicy site;
  site.high = std::vector<VlArbEntry>{{.vl = Vl{0}, .weight = 4}, {.vl = Vl{2}, .weight = 0}};
  EXPECT_GT(routes_of("nue", site), 2u) << "what the other table has is not known";
  site.low = std::vector<VlArbEntry>{{.vl = Vl{0}, .weight = 64}, {.vl = Vl{1}, .weight = 64}};
  EXPECT_LE(routes_of("nue", site), 2u);
  const unsigned long warnings = log::count(log::Level::Warn);
  EXPECT_EQ(routes_of("dor", site), 2u);
  EXPECT_GT(log::count(log::Level::Warn), warnings) << "qos.conflict";
  QosPolicy adapters;
  auto& own = adapters.kinds[static_cast<std::size_t>(PortKind::Ca)];
  own.high = own.low = std::vector<VlArbEntry>{{.vl = Vl{0}, .weight = 1}};
  EXPECT_EQ(routes_of("nue", adapters), 1u);
}

TEST(BringUpQos, SlsThatAreGivenOutAndDiscardedAreSaid) {
  SlToVl row;
  for (std::uint8_t sl = 0; sl < row.size(); ++sl) row[sl] = Vl{static_cast<std::uint8_t>(sl % 8)};
  const auto warnings_of = [&row](SimulatedSubnetOptions options, const char* engine) {
    options.settings.engine = engine;
    options.settings.qos.sl_to_vl = row;
    const unsigned long before = log::count(log::Level::Warn);
    SimulatedSubnet subnet(spec_of("torus:dims=3.3"), options);
    EXPECT_TRUE(subnet.start());
    const bool alarm = std::ranges::count(subnet.manager.alarms(), kSl0Discarded) != 0;
    return std::pair(log::count(log::Level::Warn) - before, alarm);
  };
  SimulatedSubnetOptions partition;
  partition.settings.partitions =
      PartitionPolicy{.rules = parse_partition_file("p=0x1,sl=5: ALL;", "p").value().rules};
  EXPECT_EQ(warnings_of({}, "updn"), std::pair(0ul, false));
  EXPECT_EQ(warnings_of(partition, "updn"), std::pair(0ul, false));
  row[5] = kManagementVl;
  EXPECT_EQ(warnings_of({}, "updn"), std::pair(0ul, false)) << "nobody is given it";
  EXPECT_EQ(warnings_of(partition, "updn"), std::pair(1ul, false));
  row[5] = Vl{5};
  row[0] = kManagementVl;
  EXPECT_EQ(warnings_of({}, "updn"), std::pair(1ul, true));
}

TEST(BringUpMKey, EveryPortIsProtectedAndStillManaged) {
  SimulatedSubnetOptions options;
  options.settings.ports.m_key = MKey{0x1234};
  options.settings.ports.m_key_protect = 1;
  SimulatedSubnet subnet(spec_of("torus:dims=3.3"), options);
  ASSERT_TRUE(subnet.start());
  EXPECT_TRUE(subnet.manager.last_cycle()->up());
  const sim::FabricSpec& spec = subnet.fabric.spec();
  for (std::uint32_t n = 0; n < spec.nodes.size(); ++n) {
    const bool is_switch = spec.nodes[n].type == NodeType::Switch;
    for (unsigned p = is_switch ? 0 : 1; p <= (is_switch ? 0 : spec.nodes[n].num_ports()); ++p) {
      const PortInfo info = subnet.fabric.port_info(n, PortNum{static_cast<std::uint8_t>(p)});
      EXPECT_EQ(info.m_key, MKey{0x1234}) << spec.nodes[n].description << ":" << p;
      EXPECT_EQ(info.m_key_protect_bits, 1) << spec.nodes[n].description << ":" << p;
    }
  }
  subnet.manager.request_sweep("test");
  ASSERT_TRUE(subnet.settle());
  EXPECT_TRUE(subnet.manager.last_cycle()->up());
  EXPECT_EQ(subnet.fabric.stats().dropped_m_key, 0u);
}

/// A port with protection bits and without a key passes for one that hides another manager's.
TEST(BringUpMKey, WithoutAKeyNothingIsProtected) {
  SimulatedSubnetOptions options;
  options.settings.ports.m_key_protect = 2;
  SimulatedSubnet subnet(spec_of("torus:dims=3.3"), options);
  ASSERT_TRUE(subnet.start());
  const Fabric& fabric = subnet.manager.in_force()->fabric();
  for (const PortIdx port : fabric.peer.indices())
    EXPECT_EQ(fabric.port_info[port].m_key_protect_bits, 0) << print_port(fabric, port);
  subnet.manager.request_sweep("test");
  ASSERT_TRUE(subnet.settle());
  EXPECT_TRUE(subnet.manager.last_cycle()->up());
  EXPECT_EQ(subnet.manager.last_cycle()->foreign_keys.ports, 0u);
}

TEST(BringUpFailure, WithoutACableTheManagerManagesItself) {
  sim::FabricSpec spec;
  sim::add_node(spec, NodeType::Ca, "alone", Guid{0x10}, 1);
  SimulatedSubnet subnet(spec);
  ASSERT_TRUE(subnet.start());
  EXPECT_FALSE(subnet.manager.last_cycle()->error);
  EXPECT_EQ(subnet.manager.last_cycle()->counts.cas, 1u);
}

TEST(BringUpFailure, ACreditLoopIsRefusedBeforeAnythingIsWritten) {
  SimulatedSubnetOptions options;
  options.settings.engine = "minhop";
  SimulatedSubnet subnet(spec_of("torus:dims=5.5"), options);
  ASSERT_TRUE(subnet.start());
  const CycleReport& cycle = *subnet.manager.last_cycle();
  ASSERT_TRUE(cycle.error);
  EXPECT_NE(cycle.error->context.find("credit loop"), std::string::npos) << cycle.error->context;
  EXPECT_EQ(cycle.tables.smps + cycle.configure.smps, 0u);
}

TEST(BringUpFailure, ADaemonFallsBackToUpdnAndSaysSo) {
  SimulatedSubnetOptions options;
  options.settings.engine = "minhop";
  options.settings.engine_fallback = true;
  SimulatedSubnet subnet(spec_of("torus:dims=5.5"), options);
  ASSERT_TRUE(subnet.start());
  EXPECT_TRUE(subnet.manager.last_cycle()->up());
  EXPECT_EQ(subnet.manager.last_cycle()->engine, "updn");
}

}  // namespace
}  // namespace smd::test

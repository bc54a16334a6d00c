// A change while the subnet is up: noticed, discovered, routed around; LIDs stay where they are.
#include <fmt/core.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "sim-backend/management/fabric_oracle.h"
#include "smd/base/log.h"
#include "tests/support/cables.h"
#include "tests/support/subnet_oracles.h"

namespace smd::test {
namespace {

/// A subnet that is up, with a sweep every 10 s.
class Change : public testing::Test {
 protected:
  static SimulatedSubnetOptions options() {
    SimulatedSubnetOptions out;
    out.settings.sweep_interval = std::chrono::seconds(10);
    return out;
  }

  explicit Change(const char* fabric = "fat-tree:k=4,levels=3")
      : subnet(spec_of(fabric), options()) {
    EXPECT_TRUE(subnet.start());
    EXPECT_TRUE(subnet.manager.last_cycle()->up());
  }

  void expect_healthy() {
    EXPECT_TRUE(subnet.manager.last_cycle()->up());
    EXPECT_EQ(find_inactive_port(subnet), "");
    EXPECT_EQ(find_broken_route(subnet), "");
  }

  SimulatedSubnet subnet;
};

TEST_F(Change, ALinkGoesDownAndComesBack) {
  const LidBook before = subnet.kept().lids;
  const std::uint32_t leaf = subnet.node("sw-0-0");
  PortNum uplink;
  for (unsigned p = 1; p <= subnet.fabric.spec().nodes[leaf].num_ports(); ++p) {
    const sim::PortSpec& cable = subnet.fabric.spec().nodes[leaf].ports[p];
    if (cable.peer_node != sim::kNoNode &&
        subnet.fabric.spec().nodes[cable.peer_node].type == NodeType::Switch) {
      uplink = PortNum{static_cast<std::uint8_t>(p)};
    }
  }
  const std::size_t links = subnet.manager.last_cycle()->counts.links;
  subnet.fabric.set_link(leaf, uplink, false);
  ASSERT_TRUE(subnet.settle());
  EXPECT_EQ(subnet.manager.last_cycle()->counts.links, links - 1);
  EXPECT_NE(subnet.manager.last_cycle()->reason.find("trap 128"), std::string::npos);
  expect_healthy();

  subnet.fabric.set_link(leaf, uplink, true);
  ASSERT_TRUE(subnet.settle());
  EXPECT_EQ(subnet.manager.last_cycle()->counts.links, links);
  expect_healthy();
  EXPECT_EQ(subnet.kept().lids, before);
}

TEST_F(Change, TrapsAreRepressedAndStop) {
  subnet.fabric.set_link(subnet.node("sw-0-0"), PortNum{1}, false);
  ASSERT_TRUE(subnet.settle());
  subnet.run_for(std::chrono::minutes(1));
  const std::uint64_t traps = subnet.fabric.stats().traps;
  EXPECT_GT(traps, 0u);
  subnet.run_for(std::chrono::minutes(10));
  EXPECT_EQ(subnet.fabric.stats().traps, traps);
}

TEST_F(Change, ASwitchDiesAndComesBackWithEmptyTables) {
  const LidBook before = subnet.kept().lids;
  const std::uint32_t spine = subnet.node("sw-2-0");
  subnet.fabric.set_node(spine, false);
  ASSERT_TRUE(subnet.settle());
  EXPECT_EQ(find_broken_route(subnet), "");
  EXPECT_TRUE(subnet.manager.last_cycle()->up());

  subnet.fabric.set_node(spine, true);
  ASSERT_TRUE(subnet.settle());
  ASSERT_TRUE(subnet.settle_up());
  expect_healthy();
  EXPECT_EQ(subnet.kept().lids, before);
}

TEST_F(Change, AHostRebootsAndKeepsItsLid) {
  const std::uint32_t host = subnet.node("host-00005");
  const Lid lid = subnet.fabric.port_info(host, PortNum{1}).lid;
  subnet.fabric.reboot_node(host, std::chrono::seconds(30));
  ASSERT_TRUE(subnet.settle(2));
  ASSERT_TRUE(subnet.settle_up());
  EXPECT_EQ(subnet.fabric.port_info(host, PortNum{1}).lid, lid);
  expect_healthy();
}

TEST_F(Change, ASilentSwitchIsReportedAndRoutedAround) {
  const std::uint32_t spine = subnet.node("sw-2-0");
  subnet.fabric.set_silent(spine, true);
  ASSERT_TRUE(subnet.settle());
  const CycleReport& cycle = *subnet.manager.last_cycle();
  EXPECT_FALSE(cycle.silent.empty());
  EXPECT_FALSE(cycle.error);
  EXPECT_EQ(cycle.routes.unreachable, 0u);
}

TEST_F(Change, NewRootsTurnTheTree) {
  const auto rank_of = [this](const std::string& name) {
    const ActiveSubnet& now = *subnet.manager.in_force();
    const NodeIdx node =
        now.fabric().find_node(subnet.fabric.spec().nodes[subnet.node(name)].guid).value();
    return now.routing->orientation.rank[now.fabric().switch_of[node]];
  };
  Settings settings = options().settings;
  settings.engine_options.roots = {subnet.fabric.spec().nodes[subnet.node("sw-2-1")].guid};
  subnet.manager.adopt(settings);
  subnet.manager.request_sweep("configuration");
  ASSERT_TRUE(subnet.settle());
  EXPECT_EQ(rank_of("sw-2-1"), 0u);
  settings.engine_options.roots = {subnet.fabric.spec().nodes[subnet.node("sw-2-2")].guid};
  subnet.manager.adopt(settings);
  subnet.manager.request_sweep("configuration");
  ASSERT_TRUE(subnet.settle());
  EXPECT_EQ(rank_of("sw-2-2"), 0u);
  EXPECT_GT(rank_of("sw-2-1"), 0u);
  expect_healthy();
}

// Switches without linear tables: what they hold is known, and a lost cable changes a part of it.
TEST(RandomTables, AreWhatAChangeBeginsWith) {
  std::size_t planned = 0, wanted = 0;
  SimulatedSubnetOptions options;
  options.agents.rft_cap = 64;
  options.on_plan = [&](const Fabric& fabric, const TransitionPlan& plan) {
    planned = 0;
    wanted = fabric.switch_count() * 36;  // LIDs of 20 switches and 16 hosts
    for (const TransitionPhase& phase : plan.phases)
      planned += phase.to_wanted ? wanted : phase.entries.size();
  };
  SimulatedSubnet subnet(spec_of("fat-tree:k=4,levels=3"), options);
  ASSERT_TRUE(subnet.start());
  subnet.fabric.set_link(subnet.node("sw-0-0"), PortNum{3}, false);
  ASSERT_TRUE(subnet.settle());
  EXPECT_GT(planned, 0u);
  EXPECT_LT(planned, wanted / 4);
  EXPECT_EQ(find_broken_route(subnet), "");
}

TEST(ChangeInPhases, WaitsBetweenThemUntilChannelsAreEmpty) {
  constexpr Duration kDrain = std::chrono::milliseconds(20);
  Duration took[2];
  std::uint64_t phases = 0;
  for (const bool drains : {false, true}) {
    SimulatedSubnetOptions options;
    options.settings.strategy.writing.drain_time = drains ? kDrain : Duration{0};
    SimulatedSubnet subnet(spec_of("irregular:switches=16,links=4,hosts=1,seed=3"), options);
    ASSERT_TRUE(subnet.start());
    Settings settings = options.settings;
    settings.engine_options.roots = {subnet.fabric.spec().nodes[subnet.node("sw-15")].guid};
    subnet.manager.adopt(settings);
    const TimePoint began = subnet.runtime.now();
    subnet.manager.request_sweep("configuration");
    ASSERT_TRUE(subnet.settle());
    took[drains] = subnet.runtime.now() - began;
    phases = subnet.manager.last_cycle()->transition.phases;
    EXPECT_TRUE(subnet.manager.last_cycle()->transition.certified);
  }
  ASSERT_GE(phases, 2u);
  EXPECT_GE(took[1], took[0] + (phases - 1) * kDrain);
}

TEST_F(Change, TheManagersOwnSwitchRebootsAndIsTakenBack) {
  const std::uint32_t leaf =
      subnet.fabric.spec().nodes[subnet.fabric.spec().sm_node].ports[1].peer_node;
  const LidBook before = subnet.kept().lids;
  subnet.fabric.set_node(leaf, false);
  ASSERT_TRUE(subnet.settle());
  EXPECT_TRUE(subnet.manager.last_cycle()->cut_off);
  subnet.fabric.set_node(leaf, true);
  ASSERT_TRUE(subnet.settle());
  ASSERT_TRUE(subnet.settle_up(std::chrono::minutes(2)));
  EXPECT_FALSE(subnet.manager.last_cycle()->cut_off);
  expect_healthy();
  EXPECT_EQ(subnet.kept().lids, before);
}

TEST_F(Change, ASilentNodeThatSpeaksAgainIsTakenIn) {
  const std::uint32_t host = subnet.node("host-00005");
  subnet.fabric.set_silent(host, true);
  subnet.manager.request_sweep("test");
  ASSERT_TRUE(subnet.settle());
  EXPECT_EQ(subnet.manager.last_cycle()->silent.size(), 1u);
  subnet.fabric.set_silent(host, false);  // nothing reports this
  ASSERT_TRUE(subnet.settle(1, std::chrono::minutes(6)));
  EXPECT_TRUE(subnet.manager.last_cycle()->silent.empty());
  expect_healthy();
}

TEST(ChangeWithMKey, ATrapIsRepressedWithTheKey) {
  SimulatedSubnetOptions options;
  options.settings.ports.m_key = MKey{0x22};
  options.settings.ports.m_key_protect = 1;
  SimulatedSubnet subnet(spec_of("fat-tree:k=4,levels=2"), options);
  ASSERT_TRUE(subnet.start());
  subnet.fabric.set_link(subnet.node("sw-1-0"), PortNum{1}, false);
  ASSERT_TRUE(subnet.settle());
  subnet.run_for(std::chrono::minutes(2));
  const std::uint64_t traps = subnet.fabric.stats().traps;
  EXPECT_LT(traps, 10u);
  EXPECT_EQ(subnet.fabric.stats().dropped_m_key, 0u);
  subnet.run_for(std::chrono::minutes(10));
  EXPECT_EQ(subnet.fabric.stats().traps, traps);
}

TEST(ChangeOfOwner, AManagerThatDiesWhileRoutesAreComputedIsNotCalled) {
  TimedFabric on(spec_of("fat-tree:k=4,levels=2"));
  std::optional<SimulatedManager> life(std::in_place, on, SimulatedSubnetOptions{});
  life->manager.start();
  ASSERT_TRUE(on.run_until([&] { return life->manager.phase() == smd::Phase::Routing; },
                           std::chrono::seconds(10)));
  life.reset();  // the result is already queued
  const std::uint64_t sent = on.fabric.stats().injected;
  on.run_for(std::chrono::seconds(10));
  // A call of what is gone is found by the address sanitizer; without it, where that sends
  // anything.
  EXPECT_EQ(on.fabric.stats().injected, sent);
}

TEST_F(Change, AQuietSweepIsNoChange) {
  const std::size_t before = subnet.manager.changes().size();
  subnet.manager.request_sweep("test");
  ASSERT_TRUE(subnet.settle());
  EXPECT_EQ(subnet.manager.changes().size(), before);
  subnet.fabric.set_link(subnet.node("sw-1-0"), PortNum{1}, false);
  ASSERT_TRUE(subnet.settle());
  ASSERT_EQ(subnet.manager.changes().size(), before + 1);
  EXPECT_TRUE(subnet.manager.changes().front().shrank);
}

TEST_F(Change, AStormOfTrapsIsOneOrTwoCycles) {
  const std::uint64_t cycles = subnet.manager.cycles();
  const std::uint32_t leaf = subnet.node("sw-0-0");
  for (unsigned p = 1; p <= subnet.fabric.spec().nodes[leaf].num_ports(); ++p) {
    if (subnet.fabric.spec().nodes[leaf].ports[p].peer_node == subnet.fabric.spec().sm_node)
      continue;
    subnet.fabric.set_link(leaf, PortNum{static_cast<std::uint8_t>(p)}, false);
    subnet.fabric.set_link(leaf, PortNum{static_cast<std::uint8_t>(p)}, true);
  }
  ASSERT_TRUE(subnet.settle());
  ASSERT_TRUE(subnet.settle_up());
  EXPECT_LE(subnet.manager.cycles() - cycles, 3u);
  expect_healthy();
}

TEST_F(Change, AChangeDuringACycleIsNotLost) {
  subnet.manager.request_sweep("test");
  subnet.run_for(std::chrono::microseconds(300));
  ASSERT_EQ(subnet.manager.phase(), smd::Phase::Discovering);
  subnet.fabric.set_link(subnet.node("sw-1-0"), PortNum{1}, false);
  ASSERT_TRUE(subnet.settle());
  ASSERT_TRUE(subnet.settle_up());
  expect_healthy();
}

TEST_F(Change, ASweepFindsWhatNoTrapTold) {
  // Traps are lost, however often they are repeated.
  unsigned traps = 0;
  subnet.tap.on_arrival = [&](const MadPacket& packet) {
    const bool trap =
        decode_mad_header(packet.mad)->method == static_cast<std::uint8_t>(Method::Trap);
    traps += trap ? 1 : 0;
    return !trap;
  };
  const std::size_t links = subnet.manager.last_cycle()->counts.links;
  subnet.fabric.set_link(subnet.node("sw-1-0"), PortNum{1}, false);
  ASSERT_TRUE(subnet.settle(1, std::chrono::minutes(5)));
  ASSERT_TRUE(subnet.settle_up());
  EXPECT_GT(traps, 0u);
  EXPECT_TRUE(subnet.reports.back().reason.starts_with("sweep")) << subnet.reports.back().reason;
  EXPECT_EQ(subnet.manager.last_cycle()->counts.links, links - 1);
  expect_healthy();
}

/// Time between sweep starts is the factor times the length of a sweep: a greater one notices
/// later.
TEST(SweepFactor, SetsThePauseBySweepLength) {
  std::vector<Duration> noticed;
  for (const unsigned factor : {10u, 1000u}) {
    SimulatedSubnetOptions options;
    options.settings.sweep_factor = factor;
    SimulatedSubnet subnet(spec_of("fat-tree:k=4,levels=3"), options);
    ASSERT_TRUE(subnet.bring_up());
    subnet.run_for(std::chrono::seconds(2));
    const std::uint64_t before = subnet.manager.smp_stats().sent;
    subnet.run_for(std::chrono::seconds(1));
    const double sweeps = static_cast<double>(subnet.manager.smp_stats().sent - before) / 20;
    EXPECT_GT(sweeps, 0.5) << factor;
    // No trap gets through: only a sweep can tell.
    subnet.fabric.set_wire_faults({.drop = 1.0});
    subnet.fabric.set_link(subnet.node("sw-1-0"), PortNum{1}, false);
    subnet.run_for(std::chrono::microseconds(100));
    subnet.fabric.set_wire_faults({});
    noticed.push_back(Duration(static_cast<std::int64_t>(1e9 / sweeps)));
    ASSERT_TRUE(subnet.settle());
    EXPECT_EQ(find_broken_route(subnet), "");
  }
  // The shortest pause bounds the first; the second is a thousand sweeps long.
  EXPECT_GT(noticed[1], 5 * noticed[0]);
}

TEST_F(Change, ACableMovesToAnotherPort) {
  const std::uint32_t host = subnet.node("host-00005");
  const sim::PortSpec cable = subnet.fabric.spec().nodes[host].ports[1];
  subnet.fabric.set_node(subnet.node("host-00004"), false);
  ASSERT_TRUE(subnet.settle());
  const Lid lid = subnet.fabric.port_info(host, PortNum{1}).lid;
  const sim::PortSpec other = subnet.fabric.spec().nodes[subnet.node("host-00009")].ports[1];
  subnet.fabric.set_node(subnet.node("host-00009"), false);
  ASSERT_TRUE(subnet.settle());
  ASSERT_NE(cable.peer_node, other.peer_node);
  subnet.fabric.move_cable(host, PortNum{1}, other.peer_node, other.peer_port);
  ASSERT_TRUE(subnet.settle());
  ASSERT_TRUE(subnet.settle_up());
  EXPECT_EQ(subnet.fabric.port_info(host, PortNum{1}).lid, lid);
  expect_healthy();
}

TEST_F(Change, TheAdapterIsUnplugged) {
  SimulatedSubnet lost(spec_of("fat-tree:k=4,levels=2"), options());
  ASSERT_TRUE(lost.start());
  lost.manager.request_sweep("test");
  lost.run_for(std::chrono::microseconds(50));
  lost.transport.unplug();
  ASSERT_TRUE(lost.settle());
  EXPECT_TRUE(lost.manager.last_cycle()->error);
}

/// 24 leaves with twelve hosts each below 12 spines, whose cables begin at another leaf each.
sim::FabricSpec turned_tree() {
  sim::FabricSpec spec = spec_of("pgft:down=12.24,up=1.12,parallel=1.1");
  for (unsigned spine = 0; spine < 12; ++spine) {
    const std::uint32_t node = sim::find_node(spec, "sw-1-" + std::to_string(spine));
    std::vector<sim::PortSpec>& ports = spec.nodes[node].ports;
    std::rotate(ports.begin() + 1, ports.begin() + 1 + spine * 5 % 24, ports.begin() + 25);
    for (unsigned p = 1; p <= 24; ++p)
      spec.nodes[ports[p].peer_node].ports[ports[p].peer_port.value()].peer_port =
          PortNum{static_cast<std::uint8_t>(p)};
  }
  return spec;
}

// Paths from spine to spine would close a credit loop if they were left as minhop has them.
TEST(ChangeOfATree, ShortestRoutesStandWhateverIsLost) {
  SimulatedSubnetOptions options;
  options.settings.engine = "minhop";
  options.settings.engine_fallback = false;
  SimulatedSubnet subnet(turned_tree(), options);
  ASSERT_TRUE(subnet.bring_up()) << "refused";
  subnet.fabric.set_node(subnet.node("sw-1-3"), false);
  ASSERT_TRUE(subnet.settle());
  ASSERT_TRUE(subnet.settle_up());
  subnet.fabric.set_node(subnet.node("sw-1-3"), true);
  ASSERT_TRUE(subnet.settle());
  ASSERT_TRUE(subnet.settle_up());
  for (const smd::CycleReport& cycle : subnet.reports) {
    EXPECT_EQ(cycle.engine, "minhop");
    EXPECT_TRUE(cycle.routes.ok());
    if (cycle.transition.kind == TransitionKind::Nothing) continue;
    EXPECT_TRUE(cycle.transition.certified) << cycle.transition.why;
  }
  EXPECT_EQ(find_broken_route(subnet), "");
  EXPECT_EQ(sim::find_cycle(subnet.fabric), "");
}

/// A Hamming graph, and a switch that is missing from it when it comes up.
class ChangeOfAHammingGraph : public testing::TestWithParam<std::pair<const char*, const char*>> {
 protected:
  static SimulatedSubnetOptions options() {
    SimulatedSubnetOptions out;
    out.settings.engine = "hamming";
    out.settings.engine_fallback = false;
    return out;
  }

  ChangeOfAHammingGraph() : subnet(spec_of(GetParam().first), options()) {
    if (const std::string missing = GetParam().second; !missing.empty())
      subnet.fabric.set_node(subnet.node(missing), false);
  }

  /// SMPs of all cycles until it has been taken in.
  template <class Happens>
  std::uint64_t count_smps(Happens&& happens) {
    const std::size_t before = subnet.reports.size();
    happens();
    EXPECT_TRUE(subnet.settle());
    EXPECT_TRUE(subnet.settle_up());
    std::uint64_t smps = 0;
    for (std::size_t i = before; i < subnet.reports.size(); ++i) {
      const smd::CycleReport& cycle = subnet.reports[i];
      smps += cycle.smps();
      EXPECT_EQ(cycle.engine, "hamming");
      EXPECT_TRUE(cycle.transition.kind == TransitionKind::Nothing || cycle.transition.certified);
    }
    EXPECT_EQ(find_broken_route(subnet), "");
    EXPECT_TRUE(subnet.manager.in_force()->rows->empty());
    return smps;
  }

  SimulatedSubnet subnet;
};

// Ways round the loss need no VL of their own, and so no SL-to-VL rows, of which every switch has
// the square of its cables: 1,024 and 1,728 altogether, and each is read and written.
TEST_P(ChangeOfAHammingGraph, CostsWhatItTouches) {
  ASSERT_TRUE(subnet.bring_up());
  const std::vector<Cable> cables = cables_between_switches(subnet.fabric.spec());
  for (std::size_t i = 0; i < cables.size(); i += 7) {
    const auto& [node, port] = cables[i];
    SCOPED_TRACE(fmt::format("{}:{}", subnet.fabric.spec().nodes[node].description, port));
    if (!subnet.fabric.link_up(node, port)) continue;  // to the missing switch
    EXPECT_LE(count_smps([&] { subnet.fabric.set_link(node, port, false); }), 60u);
    EXPECT_LE(count_smps([&] { subnet.fabric.set_link(node, port, true); }), 60u);
  }
}

TEST_P(ChangeOfAHammingGraph, LosesASwitchAndGetsItBack) {
  ASSERT_TRUE(subnet.bring_up());
  const std::uint32_t lost = subnet.node(GetParam().second[0] == 0 ? "sw-2-1" : "sw-1-1-1");
  EXPECT_LE(count_smps([&] { subnet.fabric.set_node(lost, false); }), 150u);
  EXPECT_LE(count_smps([&] { subnet.fabric.set_node(lost, true); }), 250u);
}

INSTANTIATE_TEST_SUITE_P(Shapes,
                         ChangeOfAHammingGraph,
                         testing::Values(std::pair{"hamming:dims=4.4,hosts=2", ""},
                                         std::pair{"hamming:dims=3.3.3,hosts=2", "sw-0-2-1"}));

// Two hosts of a leaf are read in Initialize, change places, and are made Active; meanwhile a third
// one leaves, which explains that the leaf reports a change.
TEST(UnseenChange, HostsThatChangePlacesBeforeTheyAreActivated) {
  sim::FabricSpec spec = spec_of("fat-tree:k=8,levels=2");
  const auto shelf = static_cast<std::uint32_t>(spec.nodes.size());
  sim::add_node(spec, NodeType::Ca, "shelf", Guid{0xfeed0}, 1);
  SimulatedSubnetOptions options;
  options.settings = quiet_settings();
  SimulatedSubnet subnet(spec, options);
  const std::uint32_t leaf = spec.nodes[subnet.node("host-00031")].ports[1].peer_node;
  std::vector<std::uint32_t> hosts;
  for (const sim::PortSpec& port : spec.nodes[leaf].ports) {
    if (port.peer_node != sim::kNoNode && spec.nodes[port.peer_node].type == NodeType::Ca)
      hosts.push_back(port.peer_node);
  }
  ASSERT_GE(hosts.size(), 3u);
  const auto place = [&](std::uint32_t host) {
    const Fabric& fabric = subnet.manager.in_force()->fabric();
    const auto node = fabric.find_node(spec.nodes[host].guid);
    const PortIdx peer = node ? fabric.peer[fabric.port_of(*node, PortNum{1})] : kNone<PortIdx>;
    return peer == kNone<PortIdx> ? PortNum{0} : fabric.number_of(peer);
  };
  for (unsigned i = 0; i < 2; ++i) subnet.fabric.set_node(hosts[i], false);
  ASSERT_TRUE(subnet.start());
  Timer swap;
  bool swapped = false;
  subnet.tap.on_send = [&](const Smp& smp) {
    if (swapped || smp.method != Method::Set || !is_about(smp, AttributeId::PortInfo)) return true;
    swapped = true;
    swap = Timer(subnet.runtime, subnet.runtime.now(), [&] {
      const auto move = [&](std::uint32_t from, std::uint32_t to) {
        subnet.fabric.move_cable(from, PortNum{1}, to, PortNum{1});
      };
      move(hosts[0], shelf);
      move(hosts[1], hosts[0]);
      move(shelf, hosts[1]);
      subnet.fabric.set_link(hosts[2], PortNum{1}, false);
    });
    return true;
  };
  for (unsigned i = 0; i < 2; ++i) subnet.fabric.set_node(hosts[i], true);
  ASSERT_TRUE(subnet.settle());
  ASSERT_TRUE(swapped);
  subnet.run_for(std::chrono::seconds(30));
  for (unsigned i = 0; i < 2; ++i) {
    EXPECT_EQ(place(hosts[i]), subnet.fabric.spec().nodes[hosts[i]].ports[1].peer_port);
    EXPECT_EQ(subnet.fabric.port_info(hosts[i], PortNum{1}).state(), PortState::Active);
  }
  EXPECT_EQ(place(hosts[2]), PortNum{0});
  EXPECT_EQ(find_broken_route(subnet), "");
}

}  // namespace
}  // namespace smd::test

// A change while the subnet is up: noticed, discovered, routed around; LIDs stay where they are.
#include <gtest/gtest.h>

#include <algorithm>

#include "sim-backend/management/fabric_oracle.h"
#include "smd/base/log.h"
#include "tests/support/world.h"

namespace smd::test {
namespace {

/// A world that is up, with a sweep every 10 s.
class Change : public testing::Test {
 protected:
  static WorldOptions options() {
    WorldOptions out;
    out.settings.sweep_interval = std::chrono::seconds(10);
    return out;
  }

  explicit Change(const char* fabric = "fat-tree:k=4,levels=3")
      : world(spec_of(fabric), options()) {
    world.manager.start();
    EXPECT_TRUE(world.settle());
    EXPECT_TRUE(world.manager.last_cycle()->up());
  }

  void expect_healthy() {
    EXPECT_TRUE(world.manager.last_cycle()->up());
    EXPECT_EQ(find_inactive_port(world), "");
    EXPECT_EQ(find_broken_route(world), "");
  }

  World world;
};

TEST_F(Change, ALinkGoesDownAndComesBack) {
  const LidBook before = world.book;
  const std::uint32_t leaf = world.node("sw-0-0");
  PortNum uplink;
  for (unsigned p = 1; p <= world.fabric.spec().nodes[leaf].num_ports(); ++p) {
    const sim::PortSpec& cable = world.fabric.spec().nodes[leaf].ports[p];
    if (cable.peer_node != sim::kNoNode &&
        world.fabric.spec().nodes[cable.peer_node].type == NodeType::Switch) {
      uplink = PortNum{static_cast<std::uint8_t>(p)};
    }
  }
  const std::size_t links = world.manager.last_cycle()->counts.links;
  world.fabric.set_link(leaf, uplink, false);
  ASSERT_TRUE(world.settle());
  EXPECT_EQ(world.manager.last_cycle()->counts.links, links - 1);
  EXPECT_NE(world.manager.last_cycle()->reason.find("trap 128"), std::string::npos);
  expect_healthy();

  world.fabric.set_link(leaf, uplink, true);
  ASSERT_TRUE(world.settle());
  EXPECT_EQ(world.manager.last_cycle()->counts.links, links);
  expect_healthy();
  EXPECT_EQ(world.book, before);
}

TEST_F(Change, TrapsAreRepressedAndStop) {
  world.fabric.set_link(world.node("sw-0-0"), PortNum{1}, false);
  ASSERT_TRUE(world.settle());
  world.run_for(std::chrono::minutes(1));
  const std::uint64_t traps = world.fabric.stats().traps;
  EXPECT_GT(traps, 0u);
  world.run_for(std::chrono::minutes(10));
  EXPECT_EQ(world.fabric.stats().traps, traps);
}

TEST_F(Change, ASwitchDiesAndComesBackWithEmptyTables) {
  const LidBook before = world.book;
  const std::uint32_t spine = world.node("sw-2-0");
  world.fabric.set_node(spine, false);
  ASSERT_TRUE(world.settle());
  EXPECT_EQ(find_broken_route(world), "");
  EXPECT_TRUE(world.manager.last_cycle()->up());

  world.fabric.set_node(spine, true);
  ASSERT_TRUE(world.settle());
  ASSERT_TRUE(world.settle_up());
  expect_healthy();
  EXPECT_EQ(world.book, before);
}

TEST_F(Change, AHostRebootsAndKeepsItsLid) {
  const std::uint32_t host = world.node("host-00005");
  const Lid lid = world.fabric.port_info(host, PortNum{1}).lid;
  world.fabric.reboot_node(host, std::chrono::seconds(30));
  ASSERT_TRUE(world.settle(2));
  ASSERT_TRUE(world.settle_up());
  EXPECT_EQ(world.fabric.port_info(host, PortNum{1}).lid, lid);
  expect_healthy();
}

TEST_F(Change, ASilentSwitchIsReportedAndRoutedAround) {
  const std::uint32_t spine = world.node("sw-2-0");
  world.fabric.set_silent(spine, true);
  ASSERT_TRUE(world.settle());
  const CycleReport& cycle = *world.manager.last_cycle();
  EXPECT_FALSE(cycle.silent.empty());
  EXPECT_FALSE(cycle.error);
  EXPECT_EQ(cycle.routes.unreachable, 0u);
}

TEST_F(Change, NewRootsTurnTheTree) {
  const auto rank_of = [this](const std::string& name) {
    const ActiveSubnet& now = *world.manager.in_force();
    const NodeIdx node =
        now.fabric().find_node(world.fabric.spec().nodes[world.node(name)].guid).value();
    return now.routing->orientation.rank[now.fabric().switch_of[node]];
  };
  Settings settings = options().settings;
  settings.engine_options.roots = {world.fabric.spec().nodes[world.node("sw-2-1")].guid};
  world.manager.adopt(settings);
  world.manager.request_sweep("configuration");
  ASSERT_TRUE(world.settle());
  EXPECT_EQ(rank_of("sw-2-1"), 0u);
  settings.engine_options.roots = {world.fabric.spec().nodes[world.node("sw-2-2")].guid};
  world.manager.adopt(settings);
  world.manager.request_sweep("configuration");
  ASSERT_TRUE(world.settle());
  EXPECT_EQ(rank_of("sw-2-2"), 0u);
  EXPECT_GT(rank_of("sw-2-1"), 0u);
  expect_healthy();
}

TEST(ChangeInPhases, WaitsBetweenThemUntilChannelsAreEmpty) {
  constexpr Duration kDrain = std::chrono::milliseconds(20);
  Duration took[2];
  std::uint64_t phases = 0;
  for (const bool drains : {false, true}) {
    WorldOptions options;
    options.settings.drain_time = drains ? kDrain : Duration{0};
    World world(spec_of("irregular:switches=16,links=4,hosts=1,seed=3"), options);
    world.manager.start();
    ASSERT_TRUE(world.settle());
    Settings settings = options.settings;
    settings.engine_options.roots = {world.fabric.spec().nodes[world.node("sw-15")].guid};
    world.manager.adopt(settings);
    const TimePoint began = world.runtime.now();
    world.manager.request_sweep("configuration");
    ASSERT_TRUE(world.settle());
    took[drains] = world.runtime.now() - began;
    phases = world.manager.last_cycle()->transition.phases;
    EXPECT_TRUE(world.manager.last_cycle()->transition.certified);
  }
  ASSERT_GE(phases, 2u);
  EXPECT_GE(took[1], took[0] + (phases - 1) * kDrain);
}

TEST_F(Change, TheManagersOwnSwitchRebootsAndIsTakenBack) {
  const std::uint32_t leaf =
      world.fabric.spec().nodes[world.fabric.spec().sm_node].ports[1].peer_node;
  const LidBook before = world.book;
  world.fabric.set_node(leaf, false);
  ASSERT_TRUE(world.settle());
  EXPECT_TRUE(world.manager.last_cycle()->cut_off);
  world.fabric.set_node(leaf, true);
  ASSERT_TRUE(world.settle());
  ASSERT_TRUE(world.settle_up(std::chrono::minutes(2)));
  EXPECT_FALSE(world.manager.last_cycle()->cut_off);
  expect_healthy();
  EXPECT_EQ(world.book, before);
}

TEST_F(Change, ASilentNodeThatSpeaksAgainIsTakenIn) {
  const std::uint32_t host = world.node("host-00005");
  world.fabric.set_silent(host, true);
  world.manager.request_sweep("test");
  ASSERT_TRUE(world.settle());
  EXPECT_EQ(world.manager.last_cycle()->silent.size(), 1u);
  world.fabric.set_silent(host, false);  // nothing reports this
  ASSERT_TRUE(world.settle(1, std::chrono::minutes(6)));
  EXPECT_TRUE(world.manager.last_cycle()->silent.empty());
  expect_healthy();
}

TEST(ChangeWithMKey, ATrapIsRepressedWithTheKey) {
  WorldOptions options;
  options.settings.ports.m_key = MKey{0x22};
  options.settings.ports.m_key_protect = 1;
  World world(spec_of("fat-tree:k=4,levels=2"), options);
  world.manager.start();
  ASSERT_TRUE(world.settle());
  world.fabric.set_link(world.node("sw-1-0"), PortNum{1}, false);
  ASSERT_TRUE(world.settle());
  world.run_for(std::chrono::minutes(2));
  const std::uint64_t traps = world.fabric.stats().traps;
  EXPECT_LT(traps, 10u);
  EXPECT_EQ(world.fabric.stats().dropped_m_key, 0u);
  world.run_for(std::chrono::minutes(10));
  EXPECT_EQ(world.fabric.stats().traps, traps);
}

TEST(ChangeOfOwner, AManagerThatDiesWhileRoutesAreComputedIsNotCalled) {
  sim::SimRuntime runtime;
  sim::SimFabric fabric(runtime, spec_of("fat-tree:k=4,levels=2"), sim::Timing::modern(), 1);
  sim::SimTransport port(fabric, fabric.spec().sm_node, fabric.spec().sm_port);
  auto manager = std::make_unique<SubnetManager>(runtime,
                                                 port,
                                                 WorldOptions::default_settings(),
                                                 PersistentState{},
                                                 SubnetManager::Observer{});
  manager->start();
  ASSERT_TRUE(runtime.run_while_not([&] { return manager->phase() == smd::Phase::Routing; },
                                    runtime.now() + Duration(std::chrono::seconds(10))));
  manager.reset();  // the result is already queued
  runtime.run_until(runtime.now() + Duration(std::chrono::seconds(10)));
}

TEST_F(Change, AQuietSweepIsNoChange) {
  const std::size_t before = world.manager.changes().size();
  world.manager.request_sweep("test");
  ASSERT_TRUE(world.settle());
  EXPECT_EQ(world.manager.changes().size(), before);
  world.fabric.set_link(world.node("sw-1-0"), PortNum{1}, false);
  ASSERT_TRUE(world.settle());
  ASSERT_EQ(world.manager.changes().size(), before + 1);
  EXPECT_TRUE(world.manager.changes().front().shrank);
}

TEST_F(Change, AStormOfTrapsIsOneOrTwoCycles) {
  const std::uint64_t cycles = world.manager.cycles();
  const std::uint32_t leaf = world.node("sw-0-0");
  for (unsigned p = 1; p <= world.fabric.spec().nodes[leaf].num_ports(); ++p) {
    if (world.fabric.spec().nodes[leaf].ports[p].peer_node == world.fabric.spec().sm_node) continue;
    world.fabric.set_link(leaf, PortNum{static_cast<std::uint8_t>(p)}, false);
    world.fabric.set_link(leaf, PortNum{static_cast<std::uint8_t>(p)}, true);
  }
  ASSERT_TRUE(world.settle());
  ASSERT_TRUE(world.settle_up());
  EXPECT_LE(world.manager.cycles() - cycles, 3u);
  expect_healthy();
}

TEST_F(Change, AChangeDuringACycleIsNotLost) {
  world.manager.request_sweep("test");
  world.run_for(std::chrono::microseconds(300));
  ASSERT_EQ(world.manager.phase(), smd::Phase::Discovering);
  world.fabric.set_link(world.node("sw-1-0"), PortNum{1}, false);
  ASSERT_TRUE(world.settle());
  ASSERT_TRUE(world.settle_up());
  expect_healthy();
}

TEST_F(Change, ASweepFindsWhatNoTrapTold) {
  // All SMPs are lost for a while, the trap among them.
  world.fabric.set_wire_faults({.drop = 1.0});
  world.fabric.set_link(world.node("sw-1-0"), PortNum{1}, false);
  world.run_for(std::chrono::milliseconds(1));
  world.fabric.set_wire_faults({});
  ASSERT_TRUE(world.settle(1, std::chrono::minutes(5)));
  ASSERT_TRUE(world.settle_up());
  expect_healthy();
}

/// Time between sweep starts is the factor times the length of a sweep: a greater one notices
/// later.
TEST(SweepFactor, SetsThePauseBySweepLength) {
  std::vector<Duration> noticed;
  for (const unsigned factor : {10u, 1000u}) {
    WorldOptions options;
    options.settings.sweep_factor = factor;
    World world(spec_of("fat-tree:k=4,levels=3"), options);
    world.manager.start();
    ASSERT_TRUE(world.settle_up());
    world.run_for(std::chrono::seconds(2));
    const std::uint64_t before = world.manager.smp_stats().sent;
    world.run_for(std::chrono::seconds(1));
    const double sweeps = static_cast<double>(world.manager.smp_stats().sent - before) / 20;
    EXPECT_GT(sweeps, 0.5) << factor;
    // No trap gets through: only a sweep can tell.
    world.fabric.set_wire_faults({.drop = 1.0});
    world.fabric.set_link(world.node("sw-1-0"), PortNum{1}, false);
    world.run_for(std::chrono::microseconds(100));
    world.fabric.set_wire_faults({});
    noticed.push_back(Duration(static_cast<std::int64_t>(1e9 / sweeps)));
    ASSERT_TRUE(world.settle());
    EXPECT_EQ(find_broken_route(world), "");
  }
  // The shortest pause bounds the first; the second is a thousand sweeps long.
  EXPECT_GT(noticed[1], 5 * noticed[0]);
}

TEST_F(Change, ACableMovesToAnotherPort) {
  const std::uint32_t host = world.node("host-00005");
  const sim::PortSpec cable = world.fabric.spec().nodes[host].ports[1];
  world.fabric.set_node(world.node("host-00004"), false);
  ASSERT_TRUE(world.settle());
  const Lid lid = world.fabric.port_info(host, PortNum{1}).lid;
  const sim::PortSpec other = world.fabric.spec().nodes[world.node("host-00009")].ports[1];
  world.fabric.set_node(world.node("host-00009"), false);
  ASSERT_TRUE(world.settle());
  ASSERT_NE(cable.peer_node, other.peer_node);
  world.fabric.move_cable(host, PortNum{1}, other.peer_node, other.peer_port);
  ASSERT_TRUE(world.settle());
  ASSERT_TRUE(world.settle_up());
  EXPECT_EQ(world.fabric.port_info(host, PortNum{1}).lid, lid);
  expect_healthy();
}

TEST_F(Change, TheAdapterIsUnplugged) {
  World lost(spec_of("fat-tree:k=4,levels=2"), options());
  lost.manager.start();
  ASSERT_TRUE(lost.settle());
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
  WorldOptions options;
  options.settings.engine = "minhop";
  options.settings.engine_fallback = false;
  World world(turned_tree(), options);
  world.manager.start();
  ASSERT_TRUE(world.settle_up()) << "refused";
  world.fabric.set_node(world.node("sw-1-3"), false);
  ASSERT_TRUE(world.settle());
  ASSERT_TRUE(world.settle_up());
  world.fabric.set_node(world.node("sw-1-3"), true);
  ASSERT_TRUE(world.settle());
  ASSERT_TRUE(world.settle_up());
  for (const smd::CycleReport& cycle : world.reports) {
    EXPECT_EQ(cycle.engine, "minhop");
    EXPECT_TRUE(cycle.routes.ok());
    if (cycle.transition.kind == TransitionKind::Nothing) continue;
    EXPECT_TRUE(cycle.transition.certified) << cycle.transition.why;
  }
  EXPECT_EQ(find_broken_route(world), "");
  EXPECT_EQ(sim::find_cycle(world.fabric), "");
}

}  // namespace
}  // namespace smd::test

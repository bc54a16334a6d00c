// Every way of taking in a change ends in the same place: everything reachable, confirmed as
// wanted, no credit loop left behind. The proved way never passes through one either.
#include <gtest/gtest.h>

#include "smd/subnet/cycle_report.h"
#include "tests/support/cables.h"
#include "tests/support/oracle_watch.h"

namespace smd::test {
namespace {

WorldOptions with_mode(const std::string& mode, const std::string& engine = "updn") {
  WorldOptions out;
  out.settings.mode = parse_reconfiguration_mode(mode).value();
  out.settings.engine = engine;
  out.settings.sweep_interval = std::chrono::seconds(10);
  return out;
}

class EveryMode : public testing::TestWithParam<std::tuple<const char*, const char*>> {
 protected:
  void expect_healthy(World& world, const char* when) {
    EXPECT_TRUE(world.manager.last_cycle()->up()) << when;
    EXPECT_EQ(find_inactive_port(world), "") << when;
    EXPECT_EQ(find_broken_route(world), "") << when;
  }
};

TEST_P(EveryMode, ACableAndASwitchGoAndComeBack) {
  const auto& [mode, fabric] = GetParam();
  World world(spec_of(fabric), with_mode(mode));
  world.manager.start();
  ASSERT_TRUE(world.settle_up());
  const LidBook before = world.book;
  OracleWatch watch(world);

  const Cable cable = cables_between_switches(world.fabric.spec()).at(2);
  world.fabric.set_link(cable.node, cable.port, false);
  ASSERT_TRUE(world.settle());
  expect_healthy(world, "cable down");
  world.fabric.set_link(cable.node, cable.port, true);
  ASSERT_TRUE(world.settle());
  expect_healthy(world, "cable up");

  const std::uint32_t victim =
      world.fabric.spec().nodes[cable.node].ports[cable.port.value()].peer_node;
  world.fabric.set_node(victim, false);
  ASSERT_TRUE(world.settle());
  EXPECT_EQ(find_broken_route(world), "") << "switch down";
  world.fabric.set_node(victim, true);
  ASSERT_TRUE(world.settle());
  ASSERT_TRUE(world.settle_up());
  expect_healthy(world, "switch up");

  EXPECT_EQ(watch.present_loop(), "");
  EXPECT_TRUE(watch.connected());
  EXPECT_EQ(watch.timeline().now().find_cycle(), "");
  // What is done without proof or pause may pass through a credit loop; nothing else may.
  const ReconfigurationMode how = parse_reconfiguration_mode(mode).value();
  if (how.safety != ReconfigurationMode::Safety::None) {
    EXPECT_FALSE(watch.timeline().first_cycle()) << watch.never_allowed();
  }
  // The thesis numbers LIDs anew while it discovers, so some are held twice for a moment.
  const bool renumbers = how.literal && how.discovery == ReconfigurationMode::Discovery::Full;
  if (!renumbers) {
    EXPECT_FALSE(watch.timeline().first_shared_lid()) << watch.never_allowed();
  }
  if (!how.literal) {
    EXPECT_EQ(world.book, before);
  }
}

INSTANTIATE_TEST_SUITE_P(
    Modes,
    EveryMode,
    testing::Combine(
        testing::Values("certified",
                        "basic",
                        "improved",
                        "improved+delta",
                        "full+fera+cut-ports+whole",
                        "partial+fera+cut-ports+delta",
                        "partial+pira+cut-dependencies+delta",
                        "partial+pira-fera+proved+delta",
                        "full+pira+deactivate-all+delta+lid-routed",
                        "partial+fera+none+delta",
                        "full+engine+proved+whole+lid-routed"),
        testing::Values("example:name=fig76", "fat-tree:k=4,levels=3", "torus:dims=4.4")),
    [](const auto& row) {
      std::string name = std::string(std::get<0>(row.param)) + "_" + std::get<1>(row.param);
      std::ranges::replace_if(
          name, [](char c) { return std::isalnum(c) == 0; }, '_');
      return name;
    });

/// In the default mode one cable costs what it touches.
TEST(Certified, ACableDownAsksOnlyItsTwoSwitches) {
  World world(spec_of("fat-tree:k=8,levels=3"), with_mode("certified"));
  world.manager.start();
  ASSERT_TRUE(world.settle_up());
  world.reports.clear();
  OracleWatch watch(world);
  const Cable cable = cables_between_switches(world.fabric.spec()).at(5);
  world.fabric.set_link(cable.node, cable.port, false);
  ASSERT_TRUE(world.settle());
  ASSERT_EQ(world.reports.size(), 1u);
  const CycleReport& cycle = world.reports.front();
  EXPECT_TRUE(cycle.partial) << cycle.full_why;
  EXPECT_EQ(cycle.transition.kind, TransitionKind::Certified) << cycle.transition.why;
  EXPECT_TRUE(cycle.transition.certified);
  // The manager's own port; of two switches SwitchInfo, read, cleared and read again, and 8 ports.
  EXPECT_EQ(cycle.discovery.smps, 1 + 2u * (3 + 8));
  EXPECT_EQ(cycle.configure.smps + cycle.activate.smps, 0u);
  EXPECT_EQ(cycle.tables.smps, cycle.blocks_written);
  EXPECT_EQ(watch.never_allowed(), "");
  EXPECT_EQ(watch.passing_loop(), "");
  EXPECT_EQ(find_broken_route(world), "");
}

TEST(Certified, AHostThatReturnsTouchesItsPortsAndNoRoutes) {
  World world(spec_of("fat-tree:k=8,levels=3"), with_mode("certified"));
  world.manager.start();
  ASSERT_TRUE(world.settle_up());
  const std::uint32_t host = world.node("host-00012");
  world.fabric.set_link(host, PortNum{1}, false);
  ASSERT_TRUE(world.settle());
  world.reports.clear();
  world.fabric.set_link(host, PortNum{1}, true);
  ASSERT_TRUE(world.settle());
  const CycleReport sum = sum_cycles(world.reports);
  EXPECT_TRUE(sum.partial) << sum.full_why;
  EXPECT_TRUE(sum.up());
  EXPECT_EQ(find_broken_route(world), "");
  // The manager's own port; its switch's SwitchInfo, read, cleared and read again, and 8 ports;
  // NodeInfo and PortInfo of the host.
  EXPECT_EQ(sum.discovery.smps, 1u + 3 + 8 + 2);
}

TEST(Certified, AFlapBetweenTwoLooksIsTakenIn) {
  World world(spec_of("fat-tree:k=4,levels=3"), with_mode("certified"));
  world.manager.start();
  ASSERT_TRUE(world.settle_up());
  const Cable cable = cables_between_switches(world.fabric.spec()).at(3);
  world.fabric.set_link(cable.node, cable.port, false);
  world.fabric.set_link(cable.node, cable.port, true);  // back before anybody looked
  ASSERT_TRUE(world.settle());
  ASSERT_TRUE(world.settle_up());
  EXPECT_EQ(find_inactive_port(world), "");
  EXPECT_EQ(find_broken_route(world), "");
}

TEST(Certified, ARestartedManagerWritesNothing) {
  sim::SimRuntime runtime;
  sim::SimFabric fabric(runtime, spec_of("torus:dims=4.4"), sim::Timing::modern(), 1);
  LidBook book;
  for (int life = 0; life < 2; ++life) {
    sim::SimTransport port(fabric, fabric.spec().sm_node, fabric.spec().sm_port);
    SubnetManager::Observer observer;
    observer.on_lids = [&](const LidBook& fresh) { book = fresh; };
    SubnetManager manager(runtime,
                          port,
                          with_mode("certified").settings,
                          {.book = book, .turns = {}},
                          std::move(observer));
    manager.start();
    ASSERT_TRUE(runtime.run_while_not([&] { return manager.cycles() > 0 && manager.at_rest(); },
                                      runtime.now() + Duration(std::chrono::minutes(1))));
    ASSERT_TRUE(manager.last_cycle()->up());
    if (life == 0) continue;
    std::uint64_t sets = 0;
    for (const AttributeCount& count : manager.smp_stats().sent_by_attribute) sets += count.sets;
    EXPECT_EQ(sets, 0u);
    EXPECT_EQ(manager.last_cycle()->transition.kind, TransitionKind::Nothing);
  }
}

}  // namespace
}  // namespace smd::test

// Without periodic sweeps nothing but what is remembered brings a change to light.
#include <gtest/gtest.h>

#include "tests/support/oracle_watch.h"

namespace smd::test {
namespace {

/// Traps only.
WorldOptions without_sweeps() {
  WorldOptions options;
  options.settings.sweep_interval = Duration{0};
  return options;
}

class WithoutSweeps : public testing::Test {
 protected:
  WithoutSweeps() : world(spec_of("fat-tree:k=4,levels=3"), without_sweeps()) {
    world.manager.start();
    EXPECT_TRUE(world.settle_up());
  }

  World world;
};

TEST_F(WithoutSweeps, AChangeDuringACycleIsTakenInAfterIt) {
  Settings settings = without_sweeps().settings;
  settings.debounce = Duration{0};  // its trap rings while the cycle still runs
  world.manager.adopt(settings);
  world.manager.request_sweep("settings");
  ASSERT_TRUE(world.settle());
  world.fabric.set_link(world.node("sw-1-2"), PortNum{1}, false);
  world.runtime.run_while_not([&] { return world.manager.phase() != smd::Phase::Up; },
                              world.runtime.now() + Duration(std::chrono::seconds(1)));
  ASSERT_EQ(world.manager.phase(), smd::Phase::Discovering);
  // Far from the first one, which is being looked at.
  world.fabric.set_link(world.node("sw-1-7"), PortNum{1}, false);
  world.run_for(std::chrono::seconds(1));
  EXPECT_TRUE(world.manager.at_rest());
  EXPECT_EQ(find_broken_route(world), "");
}

TEST_F(WithoutSweeps, WhatAStormHeldBackIsTakenIn) {
  const std::uint32_t spine = world.node("sw-1-2");
  for (int flap = 0; flap < 41; ++flap) {  // down in the end
    world.fabric.set_link(spine, PortNum{1}, flap % 2 == 1);
    world.run_for(std::chrono::milliseconds(20));
  }
  world.run_for(std::chrono::seconds(30));
  EXPECT_TRUE(world.manager.at_rest());
  EXPECT_EQ(find_broken_route(world), "");
}

TEST_F(WithoutSweeps, AStreamOfTrapsPutsALookOffNoLongerThanItsLimit) {
  Settings settings = without_sweeps().settings;
  settings.debounce = std::chrono::milliseconds(50);
  settings.debounce_max = std::chrono::milliseconds(200);
  world.manager.adopt(settings);
  world.manager.request_sweep("settings");
  ASSERT_TRUE(world.settle());
  const std::uint64_t before = world.manager.cycles();
  // Another switch speaks every 20 ms: the pause that is waited for never comes.
  for (int i = 0; i < 20 && world.manager.cycles() == before; ++i) {
    const std::string name = "sw-0-" + std::to_string(1 + i % 7);
    const std::uint32_t leaf = world.node(name);
    world.fabric.set_link(leaf, PortNum{1}, !world.fabric.link_up(leaf, PortNum{1}));
    world.run_for(std::chrono::milliseconds(20));
  }
  EXPECT_GT(world.manager.cycles(), before);
  EXPECT_EQ(world.manager.last_cycle()->reason.substr(0, 8), "trap 128");
}

/// A host whose name nobody has heard yet.
class Newcomer : public testing::Test {
 protected:
  Newcomer() : world(spec_of("fat-tree:k=4,levels=3"), without_sweeps()) {
    world.fabric.set_link(newcomer, PortNum{1}, false);
    world.manager.start();
    EXPECT_TRUE(world.settle_up());
  }

  [[nodiscard]] bool is_named() const {
    const ActiveSubnet& now = *world.manager.in_force();
    const auto node = now.fabric().find_node(world.fabric.spec().nodes[newcomer].guid);
    return node && now.fabric().description[*node] == "host-00009";
  }

  World world;
  const std::uint32_t newcomer = world.node("host-00009");
};

TEST_F(Newcomer, IsNamedWhileACableNeverRests) {
  const std::uint32_t spine = world.node("sw-1-2");
  world.fabric.set_link(newcomer, PortNum{1}, true);
  bool named = false;
  for (int flap = 0; flap < 8000 && !named; ++flap) {
    world.fabric.set_link(
        spine, PortNum{static_cast<std::uint8_t>(1 + flap % 4)}, (flap / 4) % 2 == 1);
    world.run_for(std::chrono::milliseconds(10));
    named = is_named();
  }
  EXPECT_TRUE(named);
}

TEST_F(Newcomer, IsNamedWhileEveryCycleIsFollowedByAnother) {
  Settings settings = without_sweeps().settings;
  settings.computing_time = [](const ComputedRoutes&) { return Duration(std::chrono::seconds(1)); };
  world.manager.adopt(settings);
  world.fabric.set_link(newcomer, PortNum{1}, true);
  // One switch after the other, so that none is taken for the source of a storm.
  bool named = false;
  for (int half_second = 0; half_second < 120 && !named; ++half_second) {
    const std::uint32_t leaf = world.node("sw-0-" + std::to_string(1 + half_second % 7));
    world.fabric.set_link(leaf, PortNum{1}, !world.fabric.link_up(leaf, PortNum{1}));
    world.run_for(std::chrono::milliseconds(500));
    named = is_named();
  }
  EXPECT_TRUE(named);
}

}  // namespace
}  // namespace smd::test

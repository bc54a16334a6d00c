// Without periodic sweeps nothing but what is remembered brings a change to light.
#include <gtest/gtest.h>

#include "tests/support/oracle_watch.h"

namespace smd::test {
namespace {

/// Traps only.
class WithoutSweeps : public testing::Test {
 protected:
  WithoutSweeps() : subnet(spec_of("fat-tree:k=4,levels=3"), {.settings = quiet_settings()}) {
    EXPECT_TRUE(subnet.bring_up());
  }

  SimulatedSubnet subnet;
};

TEST_F(WithoutSweeps, AChangeDuringACycleIsTakenInAfterIt) {
  Settings settings = quiet_settings();
  settings.debounce = Duration{0};  // its trap rings while the cycle still runs
  subnet.manager.adopt(settings);
  subnet.manager.request_sweep("settings");
  ASSERT_TRUE(subnet.settle());
  subnet.fabric.set_link(subnet.node("sw-1-2"), PortNum{1}, false);
  subnet.run_until([&] { return subnet.manager.phase() != smd::Phase::Up; },
                   std::chrono::seconds(1));
  ASSERT_EQ(subnet.manager.phase(), smd::Phase::Discovering);
  // Far from the first one, which is being looked at.
  subnet.fabric.set_link(subnet.node("sw-1-7"), PortNum{1}, false);
  subnet.run_for(std::chrono::seconds(1));
  EXPECT_TRUE(subnet.manager.at_rest());
  EXPECT_EQ(find_broken_route(subnet), "");
}

TEST_F(WithoutSweeps, WhatAStormHeldBackIsTakenIn) {
  const std::uint32_t spine = subnet.node("sw-1-2");
  for (int flap = 0; flap < 41; ++flap) {  // down in the end
    subnet.fabric.set_link(spine, PortNum{1}, flap % 2 == 1);
    subnet.run_for(std::chrono::milliseconds(20));
  }
  subnet.run_for(std::chrono::seconds(30));
  EXPECT_TRUE(subnet.manager.at_rest());
  EXPECT_EQ(find_broken_route(subnet), "");
}

TEST_F(WithoutSweeps, AStreamOfTrapsPutsALookOffNoLongerThanItsLimit) {
  Settings settings = quiet_settings();
  settings.debounce = std::chrono::milliseconds(50);
  settings.debounce_max = std::chrono::milliseconds(200);
  subnet.manager.adopt(settings);
  subnet.manager.request_sweep("settings");
  ASSERT_TRUE(subnet.settle());
  const std::uint64_t before = subnet.manager.cycles();
  // Another switch speaks every 20 ms: the pause that is waited for never comes.
  for (int i = 0; i < 20 && subnet.manager.cycles() == before; ++i) {
    const std::string name = "sw-0-" + std::to_string(1 + i % 7);
    const std::uint32_t leaf = subnet.node(name);
    subnet.fabric.set_link(leaf, PortNum{1}, !subnet.fabric.link_up(leaf, PortNum{1}));
    subnet.run_for(std::chrono::milliseconds(20));
  }
  EXPECT_GT(subnet.manager.cycles(), before);
  EXPECT_EQ(subnet.manager.last_cycle()->reason.substr(0, 8), "trap 128");
}

/// A host whose name nobody has heard yet.
class Newcomer : public testing::Test {
 protected:
  Newcomer() : subnet(spec_of("fat-tree:k=4,levels=3"), {.settings = quiet_settings()}) {
    subnet.fabric.set_link(newcomer, PortNum{1}, false);
    EXPECT_TRUE(subnet.bring_up());
  }

  [[nodiscard]] bool is_named() const {
    const ActiveSubnet& now = *subnet.manager.in_force();
    const auto node = now.fabric().find_node(subnet.fabric.spec().nodes[newcomer].guid);
    return node && now.fabric().description[*node] == "host-00009";
  }

  SimulatedSubnet subnet;
  const std::uint32_t newcomer = subnet.node("host-00009");
};

TEST_F(Newcomer, IsNamedWhileACableNeverRests) {
  const std::uint32_t spine = subnet.node("sw-1-2");
  subnet.fabric.set_link(newcomer, PortNum{1}, true);
  bool named = false;
  for (int flap = 0; flap < 8000 && !named; ++flap) {
    subnet.fabric.set_link(
        spine, PortNum{static_cast<std::uint8_t>(1 + flap % 4)}, (flap / 4) % 2 == 1);
    subnet.run_for(std::chrono::milliseconds(10));
    named = is_named();
  }
  EXPECT_TRUE(named);
}

TEST_F(Newcomer, IsNamedWhileEveryCycleIsFollowedByAnother) {
  Settings settings = quiet_settings();
  settings.computing_time = [](const ComputedRoutes&) { return Duration(std::chrono::seconds(1)); };
  subnet.manager.adopt(settings);
  subnet.fabric.set_link(newcomer, PortNum{1}, true);
  // One switch after the other, so that none is taken for the source of a storm.
  bool named = false;
  for (int half_second = 0; half_second < 120 && !named; ++half_second) {
    const std::uint32_t leaf = subnet.node("sw-0-" + std::to_string(1 + half_second % 7));
    subnet.fabric.set_link(leaf, PortNum{1}, !subnet.fabric.link_up(leaf, PortNum{1}));
    subnet.run_for(std::chrono::milliseconds(500));
    named = is_named();
  }
  EXPECT_TRUE(named);
}

}  // namespace
}  // namespace smd::test

// Without periodic sweeps nothing but what is remembered brings a change to light.
#include <gtest/gtest.h>

#include "smd/mad/notice.h"
#include "smd/mad/port_info.h"
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

/// A leaf has lost a host and its trap, and the cable of another host never rests.
TEST(SweepsAtIntervals, GoOnWhileACableNeverRests) {
  Settings settings = default_settings();
  settings.sweep_interval = std::chrono::seconds(10);
  SimulatedSubnet subnet(spec_of("fat-tree:k=4,levels=2"), {.settings = settings});
  ASSERT_TRUE(subnet.bring_up());
  const std::uint32_t leaf = subnet.node("sw-0-3");
  const std::uint32_t lost = subnet.node("host-00007");
  const std::uint32_t restless = subnet.node("host-00002");
  const Lid of_leaf = subnet.fabric.port_info(leaf, PortNum{0}).lid;
  subnet.tap.on_receive = [&](Smp& smp) {
    return smp.method != Method::Trap || decode_notice(smp.data)->issuer_lid != of_leaf;
  };
  subnet.fabric.set_link(lost, PortNum{1}, false);
  const auto is_known = [&] {
    const Fabric& fabric = subnet.manager.in_force()->fabric();
    return fabric.find_node(subnet.fabric.spec().nodes[lost].guid).has_value();
  };
  for (int change = 0; change < 8 && is_known(); ++change) {
    subnet.fabric.set_link(restless, PortNum{1}, change % 2 == 1);
    subnet.run_for(std::chrono::seconds(5));
  }
  EXPECT_FALSE(is_known());
}

TEST(AHostThatWasSilent, ComesInWhileTheCableOfAnotherNeverRests) {
  Settings settings = default_settings();
  settings.sweep_interval = std::chrono::seconds(10);
  SimulatedSubnet subnet(spec_of("fat-tree:k=4,levels=2"), {.settings = settings});
  const std::uint32_t mute = subnet.node("host-00007");
  const std::uint32_t restless = subnet.node("host-00002");
  bool is_mute = true;
  subnet.tap.on_send = [&](const Smp& smp) -> Result<bool> {
    return !is_mute || find_destination(subnet, smp) != mute;
  };
  ASSERT_TRUE(subnet.start());
  ASSERT_EQ(subnet.manager.last_cycle()->silent.size(), 1u);
  const auto is_in = [&] {
    return subnet.fabric.port_info(mute, PortNum{1}).state() == PortState::Active;
  };
  for (int change = 0; change < 48 && !is_in(); ++change) {
    if (change == 30) is_mute = false;  // after ten minutes
    subnet.fabric.set_link(restless, PortNum{1}, change % 2 == 1);
    subnet.run_for(std::chrono::seconds(20));
  }
  EXPECT_TRUE(is_in());
}

}  // namespace
}  // namespace smd::test

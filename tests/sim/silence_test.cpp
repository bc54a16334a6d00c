// What is silent is asked by light sweeps. It costs the others nothing: no discovery of everything,
// and no wait.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>

#include "sim-backend/management/smp_tap.h"
#include "tests/support/subnet_oracles.h"

namespace smd::test {
namespace silence_test {

using namespace std::chrono_literals;

constexpr PortNum kOne{1};

Settings every_ten_seconds() {
  Settings settings = default_settings();
  settings.sweep_interval = 10s;
  return settings;
}

/// Cycles from the `first` one on that asked everybody.
std::size_t count_full(const SimulatedSubnet& subnet, std::size_t first) {
  return static_cast<std::size_t>(
      std::count_if(subnet.reports.begin() + static_cast<std::ptrdiff_t>(first),
                    subnet.reports.end(),
                    [](const CycleReport& report) { return !report.partial; }));
}

bool is_active(const SimulatedSubnet& subnet, std::uint32_t host) {
  return subnet.fabric.port_info(host, kOne).state() == PortState::Active;
}

TEST(Silence, OfHostsThatComesAndGoesIsNoReasonToAskEverybody) {
  SimulatedSubnet subnet(spec_of("fat-tree:k=4,levels=2"), {.settings = quiet_settings()});
  ASSERT_TRUE(subnet.bring_up());
  const std::size_t before = subnet.reports.size();
  const std::uint32_t hosts[] = {subnet.node("host-00005"), subnet.node("host-00007")};
  std::size_t silent = 0;
  for (const std::uint32_t host : hosts) {
    subnet.fabric.set_silent(host, true);
    subnet.fabric.set_link(host, kOne, false);
    ASSERT_TRUE(subnet.settle());
    subnet.fabric.set_link(host, kOne, true);
    ASSERT_TRUE(subnet.settle());
    EXPECT_EQ(subnet.manager.last_cycle()->silent.size(), ++silent);
  }
  subnet.fabric.set_link(hosts[0], kOne, false);
  ASSERT_TRUE(subnet.settle());
  EXPECT_EQ(subnet.manager.last_cycle()->silent.size(), 1u);
  EXPECT_EQ(count_full(subnet, before), 0u);
}

TEST(Silence, WhereASwitchIsMissingIsLookedAtAgain) {
  SimulatedSubnet subnet(spec_of("fat-tree:k=4,levels=2"), {.settings = quiet_settings()});
  ASSERT_TRUE(subnet.bring_up());
  subnet.fabric.set_silent(subnet.node("sw-1-0"), true);
  subnet.manager.request_sweep("test");
  ASSERT_TRUE(subnet.settle());
  EXPECT_THAT(subnet.manager.last_cycle()->full_why, testing::HasSubstr("lead to silence"));
}

// The request that nobody answers goes by another route.
TEST(Silence, ThatIsKnownIsNotNewWhereASwitchIsLost) {
  SimulatedSubnet subnet(spec_of("fat-tree:k=4,levels=2"), {.settings = quiet_settings()});
  const std::uint32_t mute = subnet.node("host-00007");
  subnet.fabric.set_silent(mute, true);
  ASSERT_TRUE(subnet.start());
  const CycleReport& last = *subnet.manager.last_cycle();
  ASSERT_EQ(last.silent.size(), 1u);
  const std::string why = last.silent[0].why;
  subnet.fabric.set_node(subnet.node("sw-1-0"), false);
  subnet.manager.request_sweep("test");
  ASSERT_TRUE(subnet.settle());
  ASSERT_EQ(subnet.manager.last_cycle()->silent.size(), 1u);
  ASSERT_NE(subnet.manager.last_cycle()->silent[0].why, why) << "it is to be another route";
  EXPECT_EQ(count_full(subnet, 1), 1u);
  EXPECT_EQ(subnet.manager.last_cycle()->full_why, "test");
}

// A host under the GUID of one that runs is plugged in where the manager comes by first.
TEST(ATwin, LeavesTheLidOfAHostThatRunsAlone) {
  sim::FabricSpec spec = spec_of("fat-tree:k=4,levels=2");
  const auto find = [&](const std::string& name) {
    const auto at = std::ranges::find(spec.nodes, name, &sim::NodeSpec::description);
    return static_cast<std::uint32_t>(at - spec.nodes.begin());
  };
  const std::uint32_t runs = find("host-00007");
  const std::uint32_t twin = find("host-00001");
  ASSERT_EQ(spec.nodes[twin].ports[1].peer_node, spec.nodes[spec.sm_node].ports[1].peer_node);
  spec.nodes[twin].guid = spec.nodes[runs].guid;
  spec.nodes[twin].ports[1].guid = spec.nodes[runs].ports[1].guid;
  SimulatedSubnet subnet(spec, {.settings = every_ten_seconds()});
  subnet.fabric.set_link(twin, kOne, false);
  ASSERT_TRUE(subnet.bring_up());
  const Lid lid = subnet.fabric.port_info(runs, kOne).lid;
  subnet.fabric.set_link(twin, kOne, true);
  subnet.run_for(5min);
  EXPECT_GT(count_full(subnet, 1), 0u);
  EXPECT_EQ(subnet.manager.last_cycle()->duplicates.size(), 1u);
  EXPECT_EQ(subnet.fabric.port_info(runs, kOne).lid, lid);
  EXPECT_TRUE(is_active(subnet, runs));
  EXPECT_FALSE(is_active(subnet, twin));
  const Fabric& fabric = subnet.manager.in_force()->fabric();
  const PortIdx host = fabric.port_of(*fabric.find_node(spec.nodes[runs].guid), kOne);
  EXPECT_EQ(fabric.node_guid[fabric.node_of[fabric.peer[host]]],
            spec.nodes[spec.nodes[runs].ports[1].peer_node].guid);
}

}  // namespace silence_test
}  // namespace smd::test

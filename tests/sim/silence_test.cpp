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

// One has been silent for long, and another answers some seconds after its link came up.
TEST(Silence, OfAHostThatAnswersLateEndsWithASweep) {
  SimulatedSubnet subnet(spec_of("fat-tree:k=4,levels=2"), {.settings = every_ten_seconds()});
  const std::uint32_t dead = subnet.node("host-00007");
  const std::uint32_t late = subnet.node("host-00005");
  subnet.fabric.set_silent(dead, true);
  subnet.fabric.set_silent(late, true);
  subnet.fabric.set_link(late, kOne, false);
  ASSERT_TRUE(subnet.start());
  subnet.run_for(20min);
  subnet.fabric.set_link(late, kOne, true);
  subnet.run_for(3s);
  subnet.fabric.set_silent(late, false);
  EXPECT_TRUE(subnet.run_until([&] { return is_active(subnet, late); }, 12s));
  ASSERT_TRUE(subnet.settle_up());
  EXPECT_EQ(subnet.manager.last_cycle()->silent.size(), 1u);
  EXPECT_EQ(count_full(subnet, 1), 0u);
  EXPECT_EQ(find_broken_route(subnet, {dead}), "");
}

// Where nobody sweeps at intervals it is asked all the same, ever more rarely.
TEST(Silence, IsAskedWithoutSweepsAtIntervals) {
  SimulatedSubnet subnet(spec_of("fat-tree:k=4,levels=2"), {.settings = quiet_settings()});
  const std::uint32_t mute = subnet.node("host-00005");
  subnet.fabric.set_silent(mute, true);
  ASSERT_TRUE(subnet.start());
  std::size_t asked = 0;
  subnet.tap.on_send = [&](const Smp& smp) -> Result<bool> {
    if (find_destination(subnet, smp) == mute) ++asked;
    return true;
  };
  subnet.run_for(30min);
  EXPECT_GT(asked, 0u);
  EXPECT_LT(asked, 60u) << "four tries each, at last every five minutes";
  subnet.fabric.set_silent(mute, false);
  EXPECT_TRUE(subnet.run_until([&] { return is_active(subnet, mute); }, 6min));
  ASSERT_TRUE(subnet.settle_up());
  EXPECT_THAT(subnet.manager.last_cycle()->reason, testing::StartsWith("retry: 1 ports lead"));
  EXPECT_EQ(count_full(subnet, 1), 0u);
}

TEST(Silence, OfManyIsAskedByTurns) {
  SimulatedSubnet subnet(spec_of("irregular:switches=16,ports=12,links=5,hosts=5,seed=4"),
                         {.settings = quiet_settings()});
  const sim::FabricSpec& spec = subnet.fabric.spec();
  std::set<std::uint32_t> hosts;
  for (std::uint32_t node = 0; node < spec.nodes.size(); ++node) {
    if (spec.nodes[node].type == NodeType::Switch || node == spec.sm_node) continue;
    subnet.fabric.set_silent(node, true);
    hosts.insert(node);
  }
  ASSERT_GT(hosts.size(), LightSweep::kMostSilent);
  ASSERT_LT(hosts.size(), 2 * LightSweep::kMostSilent);
  ASSERT_TRUE(subnet.start());
  std::set<std::uint32_t> asked;
  subnet.tap.on_send = [&](const Smp& smp) -> Result<bool> {
    const std::uint32_t node = find_destination(subnet, smp);
    if (hosts.contains(node)) asked.insert(node);
    return true;
  };
  const auto sweep = [&] {
    const auto before = subnet.manager.last_sweep()->ended;
    subnet.manager.request_light_sweep();
    ASSERT_TRUE(
        subnet.run_until([&] { return subnet.manager.last_sweep()->ended != before; }, 60s));
  };
  sweep();
  EXPECT_EQ(asked.size(), LightSweep::kMostSilent);
  sweep();
  EXPECT_EQ(asked, hosts);
  const unsigned window = subnet.manager.client().window();
  sweep();
  EXPECT_GE(subnet.manager.client().window(), window) << "nothing was lost that was not before";
}

// Each change cuts the sweep that would find it.
TEST(Silence, OfASwitchIsFoundWhileCablesNeverRest) {
  SimulatedSubnet subnet(spec_of("fat-tree:k=4,levels=3"), {.settings = quiet_settings()});
  ASSERT_TRUE(subnet.bring_up());
  const Duration timeout =
      answer_timeout(subnet.manager.in_force()->sweep, subnet.manager.settings().smp.timeout);
  const std::uint32_t hung = subnet.node("sw-2-3");
  const Guid guid = subnet.fabric.spec().nodes[hung].guid;
  const auto is_known = [&] {
    return subnet.manager.in_force()->fabric().find_node(guid).has_value();
  };
  subnet.fabric.set_silent(hung, true);
  subnet.manager.request_light_sweep();
  subnet.run_for(2 * timeout);
  // One leaf after the other, so that none is taken for the source of a storm.
  for (int change = 0; change < 60 && is_known(); ++change) {
    const std::uint32_t leaf = subnet.node("sw-0-" + std::to_string(1 + change % 7));
    subnet.fabric.set_link(leaf, kOne, !subnet.fabric.link_up(leaf, kOne));
    subnet.run_for(3 * timeout);
  }
  EXPECT_FALSE(is_known());
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
  subnet.fabric.set_silent(find("host-00005"), true);
  ASSERT_TRUE(subnet.bring_up());
  const Lid lid = subnet.fabric.port_info(runs, kOne).lid;
  subnet.fabric.set_link(twin, kOne, true);
  subnet.run_for(5min);
  EXPECT_GT(count_full(subnet, 1), 0u) << "who else there may be is looked at, beside silence too";
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

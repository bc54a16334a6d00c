// A manager whose own cable is out knows nothing of the others, and they go on as they are: what it
// knew of them stays, but for what somebody else has written meanwhile.
#include <gtest/gtest.h>

#include <algorithm>

#include "tests/support/cables.h"
#include "tests/support/managers.h"

namespace smd::test {
namespace own_cable_test {

void set_own_cable(TimedFabric& on, std::uint32_t node, bool up) {
  on.fabric.set_link(node, PortNum{1}, up);
}

// Cables that came and went have left entries that nobody would choose from scratch.
TEST(OwnCable, MovesNoEntryWhenItIsBack) {
  SimulatedSubnet subnet(spec_of("irregular:switches=16,ports=12,links=5,hosts=2,seed=4"));
  ASSERT_TRUE(subnet.start());
  const ForwardingTables from_scratch = subnet.manager.in_force()->routing->lft;
  for (const Cable& cable : cables_between_switches(subnet.fabric.spec())) {
    for (const bool up : {false, true}) {
      subnet.fabric.set_link(cable.node, cable.port, up);
      ASSERT_TRUE(subnet.settle());
    }
  }
  const SwitchRanks directions = subnet.kept().directions;
  const ForwardingTables routes = subnet.manager.in_force()->routing->lft;
  ASSERT_FALSE(directions.empty());
  ASSERT_NE(routes, from_scratch);

  set_own_cable(subnet, subnet.fabric.spec().sm_node, false);
  ASSERT_TRUE(subnet.settle());
  ASSERT_TRUE(subnet.manager.last_cycle()->cut_off);
  EXPECT_EQ(subnet.kept().directions, directions);
  set_own_cable(subnet, subnet.fabric.spec().sm_node, true);
  ASSERT_TRUE(subnet.run_until(
      [&] { return subnet.manager.at_rest() && !subnet.manager.last_cycle()->cut_off; },
      std::chrono::minutes(2)));
  EXPECT_EQ(subnet.kept().directions, directions);
  EXPECT_EQ(subnet.manager.in_force()->routing->lft, routes);
  EXPECT_EQ(find_broken_route(subnet), "");
}

// Its own switch comes up first, and sees nothing but the manager.
TEST(OwnCable, MovesNoEntryWhenItsSwitchIsBackBeforeTheOthers) {
  SimulatedSubnet subnet(spec_of("irregular:switches=16,ports=12,links=5,hosts=2,seed=4"));
  ASSERT_TRUE(subnet.start());
  const sim::FabricSpec& spec = subnet.fabric.spec();
  const std::uint32_t leaf = spec.nodes[spec.sm_node].ports[1].peer_node;
  const std::vector<Cable> cables = cables_between_switches(spec);
  for (const Cable& cable : cables) {
    for (const bool up : {false, true}) {
      subnet.fabric.set_link(cable.node, cable.port, up);
      ASSERT_TRUE(subnet.settle());
    }
  }
  const SwitchRanks directions = subnet.kept().directions;
  const ForwardingTables routes = subnet.manager.in_force()->routing->lft;
  const auto set_uplinks = [&](bool up) {
    for (const Cable& cable : cables) {
      const std::uint32_t peer = spec.nodes[cable.node].ports[cable.port.value()].peer_node;
      if (cable.node == leaf || peer == leaf) subnet.fabric.set_link(cable.node, cable.port, up);
    }
    ASSERT_TRUE(subnet.settle());
    ASSERT_TRUE(
        subnet.run_until([&] { return subnet.manager.at_rest(); }, std::chrono::minutes(2)));
  };
  set_uplinks(false);
  ASSERT_EQ(subnet.manager.in_force()->fabric().switch_count(), 1u);
  EXPECT_EQ(subnet.kept().directions, directions);
  set_uplinks(true);
  ASSERT_EQ(subnet.manager.in_force()->fabric().switch_count(), 16u);
  EXPECT_EQ(subnet.kept().directions, directions);
  EXPECT_EQ(subnet.manager.in_force()->routing->lft, routes);
  EXPECT_EQ(find_broken_route(subnet), "");
}

// What is asked for meanwhile is not forgotten over what is found.
TEST(OwnCable, TakesTheEngineThatWasAskedForWhileItWasOut) {
  SimulatedSubnetOptions options;
  options.settings.engine = "updn";
  SimulatedSubnet subnet(spec_of("fat-tree:k=6,levels=2"), options);
  ASSERT_TRUE(subnet.start());
  set_own_cable(subnet, subnet.fabric.spec().sm_node, false);
  ASSERT_TRUE(subnet.settle());
  Settings settings = subnet.manager.settings();
  settings.engine = "ftree";
  subnet.manager.adopt(settings);
  set_own_cable(subnet, subnet.fabric.spec().sm_node, true);
  ASSERT_TRUE(subnet.run_until(
      [&] { return subnet.manager.at_rest() && !subnet.manager.last_cycle()->cut_off; },
      std::chrono::minutes(2)));
  EXPECT_EQ(subnet.manager.in_force()->routing->engine, "ftree");
  SimulatedSubnet other(spec_of("fat-tree:k=6,levels=2"), {.settings = settings});
  ASSERT_TRUE(other.start());
  EXPECT_EQ(subnet.manager.in_force()->routing->lft, other.manager.in_force()->routing->lft);
}

// The second has ruled by other routes, and died before the first saw anything of it.
TEST(OwnCable, BringsBackTablesThatAnotherHasWritten) {
  Managers all("torus:dims=4.4,hosts=2", {"host-00000", "host-00031"});
  const auto come_up = [&](std::size_t which, unsigned priority, const char* engine) {
    Settings settings = manager_settings(priority);
    settings.engine = engine;
    all[which].start(settings);
    return all.settle();
  };
  ASSERT_TRUE(come_up(0, 9, "updn")) << all.find_fault();
  ASSERT_TRUE(come_up(1, 2, "dor")) << all.find_fault();
  const auto entries = all.entries();
  set_own_cable(all, all[0].node, false);
  all[0].manager->request_sweep("test");
  ASSERT_TRUE(
      all.run_until([&] { return all[1].state() == SmState::Master; }, std::chrono::seconds(60)));
  ASSERT_TRUE(all.settle()) << all.find_fault();
  ASSERT_NE(all.entries(), entries) << "it is to write something";
  all[1].kill();
  set_own_cable(all, all[0].node, true);
  const SubnetManager& first = *all[0].manager;
  ASSERT_TRUE(all.run_until([&] { return first.at_rest() && !first.last_cycle()->cut_off; },
                            std::chrono::seconds(60)));
  const ActiveSubnet& now = *first.in_force();
  const Fabric& fabric = now.fabric();
  for (const SwitchIdx sw : fabric.switch_node.indices()) {
    const Guid guid = fabric.node_guid[fabric.switch_node[sw]];
    const auto& nodes = all.fabric.spec().nodes;
    const auto node = std::ranges::find(nodes, guid, &sim::NodeSpec::guid) - nodes.begin();
    for (std::uint16_t lid = 1; lid <= now.lids->top.value(); ++lid)
      EXPECT_EQ(all.fabric.lft(static_cast<std::uint32_t>(node), Lid{lid}),
                now.routing->lft.route(sw, Lid{lid}));
  }
  EXPECT_EQ(find_broken_route(all), "");
}

}  // namespace own_cable_test
}  // namespace smd::test

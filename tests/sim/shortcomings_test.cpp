// What one port or one switch lacks costs that port or switch alone: the rest of the subnet is up,
// and changes elsewhere are taken in.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sim-backend/topology/fabric_spec.h"
#include "smd/mad/node_info.h"
#include "smd/mad/port_info.h"
#include "tests/support/world.h"

namespace smd::test {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;

constexpr PortNum kOne{1};

WorldOptions watched() {
  WorldOptions out;
  out.settings.sweep_interval = std::chrono::seconds(10);
  return out;
}

/// The port of `name` that leads to `peer`.
PortNum port_to(const World& world, const std::string& name, const std::string& peer) {
  const sim::NodeSpec& node = world.fabric.spec().nodes[world.node(name)];
  for (unsigned p = 1; p <= node.num_ports(); ++p) {
    if (node.ports[p].peer_node == world.node(peer)) return PortNum{static_cast<std::uint8_t>(p)};
  }
  throw std::runtime_error("no cable from " + name + " to " + peer);
}

void set_cable(World& world, const std::string& name, const std::string& peer, bool up) {
  world.fabric.set_link(world.node(name), port_to(world, name, peer), up);
}

/// Adapters whose port shows no LID or is not Active.
std::set<std::uint32_t> find_hosts_out(const World& world) {
  std::set<std::uint32_t> out;
  const sim::FabricSpec& spec = world.fabric.spec();
  for (std::uint32_t node = 0; node < spec.nodes.size(); ++node) {
    if (spec.nodes[node].type == NodeType::Switch || !world.fabric.link_up(node, kOne)) continue;
    const PortInfo info = world.fabric.port_info(node, kOne);
    if (info.lid == kUnassignedLid || info.state() != PortState::Active) out.insert(node);
  }
  return out;
}

//  Four leaves with two hosts each, two spines: 14 end ports.
constexpr const char* kTree = "fat-tree:k=4,levels=2";

WorldOptions with_lids(unsigned max, std::uint8_t lmc = 0) {
  WorldOptions out = watched();
  out.settings.lids.max = Lid{static_cast<std::uint16_t>(max)};
  out.settings.lids.lmc = lmc;
  return out;
}

struct OnePortMoreThanLids : testing::Test {
  void SetUp() override {
    world.manager.start();
    ASSERT_TRUE(world.settle());
  }

  World world{spec_of(kTree), with_lids(13)};
};

TEST_F(OnePortMoreThanLids, StaysOutAloneAndIsNamed) {
  const CycleReport& first = *world.manager.last_cycle();
  EXPECT_FALSE(first.error);
  EXPECT_FALSE(first.up()) << "one port is missing";
  EXPECT_EQ(first.ports_without_lid, 1u);
  const std::set<std::uint32_t> out = find_hosts_out(world);
  ASSERT_EQ(out.size(), 1u);
  const std::uint32_t host = *out.begin();
  const sim::NodeSpec& spec = world.fabric.spec().nodes[host];
  EXPECT_EQ(world.fabric.port_info(host, kOne).lid, kUnassignedLid);
  EXPECT_EQ(world.fabric.port_info(host, kOne).state(), PortState::Initialize);
  EXPECT_THAT(world.manager.alarms(),
              Contains(AllOf(HasSubstr("no LIDs left for 1 port, 1 missing in 1 … 13"),
                             HasSubstr(fmt::format("port GUID {}, LMC 0", spec.ports[1].guid)))));
  EXPECT_EQ(find_broken_route(world), "");
}

TEST_F(OnePortMoreThanLids, CablesThatFailAreRoutedAround) {
  for (const bool up : {false, true}) {
    set_cable(world, "sw-0-1", "sw-1-0", up);
    ASSERT_TRUE(world.settle());
    EXPECT_FALSE(world.manager.last_cycle()->error);
    EXPECT_EQ(world.manager.last_cycle()->fault_count, 0u);
    EXPECT_EQ(find_broken_route(world), "");
    EXPECT_EQ(find_hosts_out(world).size(), 1u);
  }
}

TEST_F(OnePortMoreThanLids, ComesInWhenAnotherLeaves) {
  ASSERT_EQ(find_hosts_out(world).size(), 1u);
  const std::uint32_t out = *find_hosts_out(world).begin();
  const std::uint32_t other = world.node("host-00002");
  ASSERT_NE(out, other);
  world.fabric.set_node(other, false);
  ASSERT_TRUE(world.settle());
  EXPECT_TRUE(world.manager.last_cycle()->up());
  EXPECT_TRUE(find_hosts_out(world).empty());
  EXPECT_EQ(find_broken_route(world), "");
  EXPECT_EQ(find_inactive_port(world), "");

  world.fabric.set_node(other, true);
  ASSERT_TRUE(world.settle(2));
  EXPECT_EQ(find_hosts_out(world), std::set{other}) << "who is in stays in";
  EXPECT_EQ(find_broken_route(world), "");
}

TEST(OneBlockMoreThanLids, ComesInWhenTheOptionIsChanged) {
  // Eight blocks of four, and three LIDs below them.
  WorldOptions options = with_lids(35, 2);
  World world(spec_of(kTree), options);
  world.manager.start();
  ASSERT_TRUE(world.settle());
  EXPECT_EQ(find_hosts_out(world).size(), 1u);
  EXPECT_THAT(world.manager.alarms(), Contains(AllOf(HasSubstr("4 missing"), HasSubstr("LMC 2"))));

  options.settings.lids.max = kTopUnicastLid;
  world.manager.adopt(options.settings);
  world.manager.request_sweep("configuration");
  ASSERT_TRUE(world.settle());
  EXPECT_TRUE(world.manager.last_cycle()->up());
  EXPECT_TRUE(world.manager.alarms().empty());
  EXPECT_EQ(find_inactive_port(world), "");
  EXPECT_EQ(find_broken_route(world), "");
}

TEST(OneBlockMoreThanLids, WhoLosesItsLidIsTakenDownBeforeTwoPortsShareIt) {
  WorldOptions options = watched();
  World world(spec_of(kTree), options);
  world.manager.start();
  ASSERT_TRUE(world.settle());
  options.settings.lids.lmc = 1;
  options.settings.lids.max = Lid{17};
  world.manager.adopt(options.settings);
  world.manager.request_sweep("configuration");
  ASSERT_TRUE(world.settle());
  ASSERT_FALSE(world.manager.last_cycle()->error);
  const std::set<std::uint32_t> out = find_hosts_out(world);
  EXPECT_FALSE(out.empty());
  EXPECT_FALSE(out.contains(world.fabric.spec().sm_node));
  for (const std::uint32_t host : out)
    EXPECT_EQ(world.fabric.port_info(host, kOne).state(), PortState::Initialize);
  EXPECT_EQ(find_broken_route(world, out), "");
}

/// From now on the first of `may` whose forwarding table is to change takes no Set.
struct Refusal {
  Refusal(World& to, const std::vector<std::string>& may) : world(to) {
    std::set<std::uint32_t> candidates;
    for (const std::string& name : may) candidates.insert(world.node(name));
    world.tap.on_send = [this, candidates](const Smp& smp) {
      const std::uint32_t at = find_destination(world, smp);
      if (who == sim::kNoNode && candidates.contains(at) && smp.method == Method::Set &&
          is_about(smp, AttributeId::LinearForwardingTable))
        who = at;
      return !(lasts && smp.method == Method::Set && at == who);
    };
  }

  /// The switch and the adapters that hang on it.
  [[nodiscard]] std::set<std::uint32_t> lost() const {
    std::set<std::uint32_t> out{who};
    for (const sim::PortSpec& port : world.fabric.spec().nodes[who].ports) {
      if (port.peer_node != sim::kNoNode &&
          world.fabric.spec().nodes[port.peer_node].type != NodeType::Switch)
        out.insert(port.peer_node);
    }
    return out;
  }

  World& world;
  std::uint32_t who = sim::kNoNode;
  bool lasts = true;
};

TEST(ASwitchThatTakesNoSettings, IsRoutedAround) {
  World world(spec_of("fat-tree:k=4,levels=3"), watched());
  world.manager.start();
  ASSERT_TRUE(world.settle());
  // Whoever of them is left out, all others are joined still.
  Refusal refusal(world,
                  {"sw-0-1",
                   "sw-0-4",
                   "sw-0-5",
                   "sw-0-6",
                   "sw-0-7",
                   "sw-1-4",
                   "sw-1-5",
                   "sw-1-6",
                   "sw-1-7",
                   "sw-2-0",
                   "sw-2-1",
                   "sw-2-2",
                   "sw-2-3"});
  set_cable(world, "sw-0-2", "sw-1-2", false);
  ASSERT_TRUE(world.settle());
  ASSERT_NE(refusal.who, sim::kNoNode) << "nobody was to change";
  EXPECT_FALSE(world.manager.last_cycle()->error);
  EXPECT_EQ(find_broken_route(world, refusal.lost()), "");
  EXPECT_THAT(world.manager.alarms(), Contains(HasSubstr("does not take its settings")));

  set_cable(world, "sw-0-3", "sw-1-3", false);
  ASSERT_TRUE(world.settle());
  EXPECT_FALSE(world.manager.last_cycle()->error);
  EXPECT_EQ(find_broken_route(world, refusal.lost()), "");

  refusal.lasts = false;
  // Nobody reports it: it is found when silent ports are looked at again.
  ASSERT_TRUE(world.runtime.run_while_not(
      [&] { return world.manager.last_cycle()->silent.empty() && world.manager.at_rest(); },
      world.runtime.now() + Duration(std::chrono::minutes(12))));
  EXPECT_TRUE(world.manager.alarms().empty());
  EXPECT_EQ(find_inactive_port(world), "");
  EXPECT_EQ(find_broken_route(world), "");
}

/// Answers of `node` say that its forwarding table holds `entries` LIDs.
void shrink_table(World& world, std::set<std::uint32_t> nodes, std::uint16_t entries) {
  world.tap.on_receive = [&world, nodes = std::move(nodes), entries](Smp& smp) {
    if (!is_about(smp, AttributeId::SwitchInfo) || !nodes.contains(find_destination(world, smp)))
      return true;
    auto info = decode_switch_info(smp.data);
    info->linear_fdb_cap = entries;
    encode_switch_info(*info, smp.data);
    return true;
  };
}

TEST(ASwitchWithASmallForwardingTable, IsLeftOutAloneAndIsNamed) {
  World world(spec_of(kTree), watched());
  shrink_table(world, {world.node("sw-1-1")}, 14);  // LIDs up to 13
  world.manager.start();
  ASSERT_TRUE(world.settle());
  const CycleReport& first = *world.manager.last_cycle();
  EXPECT_FALSE(first.error);
  EXPECT_EQ(first.fault_count, 0u);
  EXPECT_TRUE(find_hosts_out(world).empty());
  EXPECT_EQ(find_broken_route(world, {world.node("sw-1-1")}), "");
  EXPECT_THAT(world.manager.alarms(),
              Contains(AllOf(HasSubstr(fmt::format(
                                 "{}", world.fabric.spec().nodes[world.node("sw-1-1")].guid)),
                             HasSubstr("its forwarding table holds LIDs below 14, "))));
}

TEST(ASwitchWithASmallForwardingTable, BeforeTheManagerLimitsTheLids) {
  World world(spec_of(kTree), watched());
  shrink_table(world, {world.node("sw-0-0")}, 13);  // LIDs up to 12, for 14 ports
  world.manager.start();
  ASSERT_TRUE(world.settle());
  const CycleReport& first = *world.manager.last_cycle();
  EXPECT_FALSE(first.error);
  EXPECT_EQ(first.ports_without_lid, 2u);
  EXPECT_EQ(find_hosts_out(world).size(), 2u);
  EXPECT_EQ(find_broken_route(world), "");
}

TEST(APortOfASwitchThatRefusesPortInfo, IsNoLinkToRouteOver) {
  World world(spec_of(kTree), watched());
  const std::uint32_t spine = world.node("sw-1-1");
  const PortNum port = port_to(world, "sw-1-1", "sw-0-2");
  world.tap.on_receive = [&](Smp& smp) {
    if (is_about(smp, AttributeId::PortInfo) && find_destination(world, smp) == spine &&
        smp.attribute_modifier == port.value())
      smp.status = 0x1c;
    return true;
  };
  world.manager.start();
  ASSERT_TRUE(world.settle());
  const auto expect_no_link = [&] {
    const CycleReport& last = *world.manager.last_cycle();
    EXPECT_TRUE(last.up()) << "everything else is";
    ASSERT_EQ(last.silent.size(), 1u);
    EXPECT_EQ(last.silent[0].port, port);
    const Fabric& fabric = world.manager.in_force()->fabric();
    const auto node = fabric.find_node(world.fabric.spec().nodes[spine].guid);
    ASSERT_TRUE(node);
    EXPECT_EQ(fabric.peer[fabric.port_of(*node, port)], kNone<PortIdx>);
    EXPECT_EQ(find_broken_route(world), "");
  };
  expect_no_link();
  for (const bool up : {false, true}) {
    set_cable(world, "sw-0-3", "sw-1-1", up);
    ASSERT_TRUE(world.settle());
    expect_no_link();
  }
}

/// H1 (the manager's) and H2, both with a port at S1 and one at S2.
sim::FabricSpec two_ports_each() {
  sim::FabricSpec spec;
  sim::add_node(spec, NodeType::Ca, "H1", Guid{0x1010}, 2);
  sim::add_node(spec, NodeType::Ca, "H2", Guid{0x1020}, 2);
  sim::add_node(spec, NodeType::Switch, "S1", Guid{0x2001}, 4);
  sim::add_node(spec, NodeType::Switch, "S2", Guid{0x2002}, 4);
  for (std::uint32_t host = 0; host < 2; ++host) {
    for (std::uint32_t sw = 0; sw < 2; ++sw) {
      sim::connect(spec,
                   host,
                   PortNum{static_cast<std::uint8_t>(sw + 1)},
                   2 + sw,
                   PortNum{static_cast<std::uint8_t>(host + 1)});
    }
  }
  sim::connect(spec, 2, PortNum{3}, 3, PortNum{3});
  return spec;
}

TEST(APortOfAnAdapterThatSaysNothing, CostsThatPortAlone) {
  for (const char* host : {"H1", "H2"}) {
    SCOPED_TRACE(host);
    World world(two_ports_each(), watched());
    const std::uint32_t mute = world.node(host);
    world.tap.on_send = [&](const Smp& smp) {
      return find_destination(world, smp) != mute || smp.hop_count < 2 ||
             !is_about(smp, AttributeId::PortInfo) || smp.attribute_modifier != 2;
    };
    world.manager.start();
    ASSERT_TRUE(world.settle());
    EXPECT_FALSE(world.manager.last_cycle()->error);
    EXPECT_EQ(world.manager.last_cycle()->silent.size(), 1u);
    EXPECT_EQ(world.fabric.port_info(mute, kOne).state(), PortState::Active);
    EXPECT_EQ(world.fabric.port_info(1 - mute, PortNum{2}).state(), PortState::Active);
  }
}

}  // namespace
}  // namespace smd::test

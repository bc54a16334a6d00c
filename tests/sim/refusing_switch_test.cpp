// A switch that refuses what routes need: its hosts go on by the entries that it holds, or are
// named; it is asked for what it refused, and comes back when it takes that.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <string>

#include "smd/mad/node_info.h"
#include "smd/mad/tables.h"
#include "tests/support/subnet_oracles.h"

namespace smd::test {
namespace refusing_switch_test {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr PortNum kOne{1};

SimulatedSubnetOptions watched(const std::string& engine = "updn") {
  SimulatedSubnetOptions out;
  out.settings.sweep_interval = std::chrono::seconds(10);
  out.settings.engine = engine;
  return out;
}

/// While it lasts, `name` answers a Set of forwarding blocks from `block` on with a bad status, and
/// does nothing.
class Refusal {
 public:
  Refusal(SimulatedSubnet& subnet, const std::string& name, std::uint32_t block)
      : subnet_(subnet), node_(subnet.node(name)), block_(block) {
    subnet.tap.edit_sent = [this](Smp& smp) {
      if (!lasts || smp.method != Method::Set || smp.attribute_modifier < block_ ||
          !is_about(smp, AttributeId::LinearForwardingTable) ||
          find_destination(subnet_, smp) != node_)
        return;
      smp.method = Method::Get;
      refused_.insert(smp.transaction_id);
      ++count;
    };
    subnet.tap.on_receive = [this](Smp& smp) {
      if (refused_.erase(smp.transaction_id) != 0) smp.status = 0x1c;
      return true;
    };
  }

  bool lasts = true;
  unsigned count = 0;

 private:
  SimulatedSubnet& subnet_;
  std::uint32_t node_;
  std::uint32_t block_;
  std::set<std::uint64_t> refused_;
};

void set_host(SimulatedSubnet& subnet, const std::string& name, bool up) {
  subnet.fabric.set_link(subnet.node(name), kOne, up);
}

void set_cable(SimulatedSubnet& subnet, const std::string& name, const std::string& peer, bool up) {
  const sim::NodeSpec& node = subnet.fabric.spec().nodes[subnet.node(name)];
  for (unsigned p = 1; p <= node.num_ports(); ++p) {
    if (node.ports[p].peer_node == subnet.node(peer))
      subnet.fabric.set_link(subnet.node(name), PortNum{static_cast<std::uint8_t>(p)}, up);
  }
}

/// A packet between two hosts, by the registers of the switches.
bool arrives(const SimulatedSubnet& subnet, const std::string& from, const std::string& to) {
  const sim::FabricSpec& spec = subnet.fabric.spec();
  const Lid lid = subnet.fabric.port_info(subnet.node(to), kOne).lid;
  std::uint32_t at = spec.nodes[subnet.node(from)].ports[1].peer_node;
  for (unsigned hop = 0; hop < 8; ++hop) {
    const PortNum out = subnet.fabric.lft(at, lid);
    if (out.value() == 0 || out.value() > spec.nodes[at].num_ports() ||
        !subnet.fabric.link_up(at, out))
      return false;
    at = spec.nodes[at].ports[out.value()].peer_node;
    if (spec.nodes[at].type != NodeType::Switch) return at == subnet.node(to);
  }
  return false;
}

//  Four leaves with two hosts each, two spines. The manager is on host-00000 at sw-0-0.
struct ALeafThatRefusesABlock : testing::Test {
  void SetUp() override {
    set_host(subnet, late, false);
    ASSERT_TRUE(subnet.start());
  }

  void let_late_come(Refusal& refusal) {
    set_host(subnet, late, true);
    ASSERT_TRUE(subnet.settle());
    ASSERT_GT(refusal.count, 0u) << "it was to change";
  }

  void expect_hosts_served() {
    const Fabric& fabric = subnet.manager.in_force()->fabric();
    for (const char* host : {"host-00002", "host-00003"}) {
      SCOPED_TRACE(host);
      EXPECT_TRUE(fabric.find_node(subnet.fabric.spec().nodes[subnet.node(host)].guid));
      for (const char* other : {"host-00000", "host-00004", "host-00007"}) {
        EXPECT_TRUE(arrives(subnet, host, other)) << other;
        EXPECT_TRUE(arrives(subnet, other, host)) << other;
      }
      EXPECT_TRUE(arrives(subnet, late, host));
    }
    EXPECT_TRUE(arrives(subnet, "host-00000", late));
    EXPECT_TRUE(arrives(subnet, late, "host-00000"));
    EXPECT_FALSE(subnet.manager.last_cycle()->error);
    EXPECT_FALSE(subnet.manager.last_cycle()->up());
  }

  void expect_all_well_once_it_takes_it(Refusal& refusal) {
    refusal.lasts = false;
    ASSERT_TRUE(subnet.run_until(
        [&] { return subnet.manager.alarms().empty() && subnet.manager.at_rest(); },
        std::chrono::minutes(12)));
    EXPECT_EQ(find_inactive_port(subnet), "");
    EXPECT_EQ(find_broken_route(subnet), "");
  }

  const std::string late = "host-00006";
  SimulatedSubnet subnet{spec_of("fat-tree:k=4,levels=2"), watched()};
};

TEST_F(ALeafThatRefusesABlock, KeepsItsHosts) {
  Refusal refusal(subnet, "sw-0-1", 0);
  let_late_come(refusal);
  expect_hosts_served();
  EXPECT_FALSE(arrives(subnet, "host-00002", late)) << "that entry was refused";
  EXPECT_THAT(subnet.manager.alarms(),
              Contains(AllOf(HasSubstr("does not take its settings"), HasSubstr("LFT block 0"))));
  EXPECT_THAT(subnet.manager.alarms(), Not(Contains(HasSubstr("left out"))));
  expect_all_well_once_it_takes_it(refusal);
}

TEST_F(ALeafThatRefusesABlock, IsReachedAroundACableThatFailsElsewhere) {
  Refusal refusal(subnet, "sw-0-1", 0);
  let_late_come(refusal);
  for (const bool up : {false, true}) {
    set_cable(subnet, "sw-0-2", "sw-1-0", up);
    ASSERT_TRUE(subnet.settle());
    expect_hosts_served();
  }
  expect_all_well_once_it_takes_it(refusal);
}

TEST_F(ALeafThatRefusesABlock, IsReachedByTheCableThatIsLeft) {
  Refusal refusal(subnet, "sw-0-1", 0);
  set_cable(subnet, "sw-0-1", "sw-1-0", false);
  ASSERT_TRUE(subnet.settle());
  ASSERT_GT(refusal.count, 0u) << "it was to change";
  for (const char* other : {"host-00000", "host-00004", "host-00007"})
    EXPECT_TRUE(arrives(subnet, other, "host-00002")) << other;
  EXPECT_FALSE(subnet.manager.last_cycle()->error);
  EXPECT_THAT(subnet.manager.alarms(), Contains(HasSubstr("does not take its settings")));
  expect_all_well_once_it_takes_it(refusal);
}

TEST_F(ALeafThatRefusesABlock, IsAskedAgainAndNotWrittenToAgain) {
  Refusal refusal(subnet, "sw-0-1", 0);
  let_late_come(refusal);
  refusal.count = 0;
  unsigned full = 0;
  std::uint64_t seen = subnet.reports.size();
  subnet.run_for(std::chrono::minutes(20));
  for (; seen < subnet.reports.size(); ++seen) full += subnet.reports[seen].partial ? 0u : 1u;
  ASSERT_GT(full, 2u);
  EXPECT_LE(refusal.count, full) << "one for each look at everything";
  expect_hosts_served();
}

TEST_F(ALeafThatRefusesABlock, IsWrittenToWhenItWasStartedAnew) {
  Refusal refusal(subnet, "sw-0-1", 0);
  let_late_come(refusal);
  refusal.lasts = false;
  subnet.fabric.reboot_node(subnet.node("sw-0-1"), std::chrono::milliseconds(1));
  ASSERT_TRUE(subnet.settle_up(std::chrono::seconds(5))) << "not when all is looked at again";
  EXPECT_EQ(find_broken_route(subnet), "");
}

// Nobody hangs on it, so nobody loses anything; twelve leaves, six spines, 90 LIDs.
TEST(ASpineThatRefusesABlock, IsAskedForThatBlock) {
  SimulatedSubnet subnet(spec_of("fat-tree:k=12,levels=2"), watched());
  set_host(subnet, "host-00010", false);
  ASSERT_TRUE(subnet.start());
  Refusal refusal(subnet, "sw-1-5", 1);
  set_host(subnet, "host-00010", true);
  ASSERT_TRUE(subnet.settle());
  ASSERT_GT(refusal.count, 0u) << "it was to change";
  EXPECT_THAT(subnet.manager.alarms(), Contains(HasSubstr("left out")));
  EXPECT_EQ(find_broken_route(subnet, {subnet.node("sw-1-5")}), "");
  refusal.count = 0;
  unsigned full = 0;
  std::uint64_t seen = subnet.reports.size();
  subnet.run_for(std::chrono::minutes(20));
  for (; seen < subnet.reports.size(); ++seen) full += subnet.reports[seen].partial ? 0u : 1u;
  ASSERT_GT(full, 2u);
  EXPECT_LE(refusal.count, full) << "one for each look at everything";
  refusal.lasts = false;
  ASSERT_TRUE(
      subnet.run_until([&] { return subnet.manager.alarms().empty() && subnet.manager.at_rest(); },
                       std::chrono::minutes(12)));
  EXPECT_EQ(find_broken_route(subnet), "");
}

// Routes on several VLs are proved for what every switch does with them.
TEST(ASwitchThatIsLeftOutWithItsHosts, NamesThem) {
  SimulatedSubnet subnet(spec_of("torus:dims=4.4,hosts=2"), watched("dfsssp"));
  const std::string late = "host-00017";
  set_host(subnet, late, false);
  ASSERT_TRUE(subnet.start());
  ASSERT_GT(subnet.manager.in_force()->routing->vls, 1u);
  Refusal refusal(subnet, "sw-2-2", 0);
  set_host(subnet, late, true);
  ASSERT_TRUE(subnet.settle());
  ASSERT_GT(refusal.count, 0u) << "it was to change";
  const sim::FabricSpec& spec = subnet.fabric.spec();
  for (const sim::PortSpec& port : spec.nodes[subnet.node("sw-2-2")].ports) {
    if (port.peer_node == sim::kNoNode || spec.nodes[port.peer_node].type == NodeType::Switch)
      continue;
    EXPECT_THAT(
        subnet.manager.alarms(),
        Contains(AllOf(HasSubstr("left out"), HasSubstr(spec.nodes[port.peer_node].description))));
  }
}

}  // namespace refusing_switch_test
}  // namespace smd::test

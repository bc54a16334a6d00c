// What a manager carries from one cycle to the next, and when it must not trust that. Nothing is
// swept, so that only what is remembered can help.
#include <gtest/gtest.h>

#include <algorithm>

#include "smd/mad/node_info.h"
#include "smd/mad/notice.h"
#include "smd/mad/port_info.h"
#include "tests/support/subnet_oracles.h"

namespace smd::test {
namespace {

class ManagerMemory : public testing::Test, protected SimulatedSubnet {
 protected:
  ManagerMemory()
      : SimulatedSubnet(spec_of("fat-tree:k=4,levels=2"),
                        {.settings = quiet_settings(), .on_phase = [this](smd::Phase phase) {
                           if (on_phase) on_phase(phase);
                         }}) {}

  void bring_up() {
    manager.start();
    ASSERT_TRUE(settle());
    ASSERT_TRUE(manager.last_cycle()->up());
    reports.clear();
  }

  /// One cycle more has ended, and nothing is asked for. Short: nothing is tried again by itself.
  bool settle() { return SimulatedSubnet::settle(1, std::chrono::seconds(5)); }

  Guid guid(const std::string& name) const { return fabric.spec().nodes[node(name)].guid; }

  std::uint64_t count_gets(AttributeId attribute) const {
    for (const AttributeCount& each : manager.smp_stats().sent_by_attribute) {
      if (each.attribute == static_cast<std::uint16_t>(attribute)) return each.gets;
    }
    return 0;
  }

  std::function<void(smd::Phase)> on_phase;
};

/// An engine that refuses the fabric: a cycle that finds the last host fails after it has cleared
/// what reported it.
class AfterAFailedCycle : public ManagerMemory {
 protected:
  void fail_once(bool in_full) {
    fabric.set_node(node("host-00007"), false);
    bring_up();
    Settings refused = quiet_settings();
    refused.engine = "dor";
    refused.engine_fallback = false;
    manager.adopt(refused);
    tap.on_receive = [in_full](Smp& smp) { return !in_full || smp.method != Method::Trap; };
    fabric.set_node(node("host-00007"), true);
    if (in_full) manager.request_sweep("test");
    ASSERT_TRUE(settle());
    ASSERT_TRUE(reports.back().error);
    ASSERT_EQ(reports.back().partial, !in_full);
    tap.on_receive = nullptr;
    manager.adopt(quiet_settings());
  }

  void expect_all_found() {
    ASSERT_TRUE(settle());
    EXPECT_FALSE(reports.back().partial);
    EXPECT_EQ(reports.back().full_why, "the cycle before did not end");
    EXPECT_TRUE(reports.back().up());
    EXPECT_TRUE(manager.in_force()->fabric().find_node(guid("host-00007")));
  }
};

TEST_F(AfterAFailedCycle, APartialLookIsNotContinued) {
  fail_once(false);
  fabric.set_link(node("host-00002"), PortNum{1}, false);
  expect_all_found();
}

TEST_F(AfterAFailedCycle, NorIsAFullOne) {
  fail_once(true);
  fabric.set_link(node("host-00002"), PortNum{1}, false);
  expect_all_found();
}

TEST_F(ManagerMemory, ASwitchThatAnswersLateIsPlannedForAgainInTheSameCycle) {
  bring_up();
  // Whatever is written into tables is lost until the first of it is given up.
  const std::uint64_t before = manager.smp_stats().timeouts;
  tap.on_send = [&](const Smp& smp) {
    return smp.method != Method::Set || !is_about(smp, AttributeId::LinearForwardingTable) ||
           manager.smp_stats().timeouts > before;
  };
  fabric.set_link(node("sw-1-0"), PortNum{1}, false);
  ASSERT_TRUE(settle());
  ASSERT_EQ(reports.size(), 1u);
  EXPECT_GT(manager.smp_stats().timeouts, before);
  EXPECT_GE(reports.front().transition.replans, 1u);
  EXPECT_EQ(reports.front().fault_count, 0u);
  EXPECT_TRUE(reports.front().up());
}

TEST_F(ManagerMemory, ACableThatWentWhileItWasLookedAtIsLookedAtAgain) {
  bring_up();
  const std::uint32_t spine = node("sw-1-0");
  const std::size_t links = manager.last_cycle()->counts.links;
  fabric.set_link(spine, PortNum{2}, false);
  ASSERT_TRUE(settle());
  ASSERT_EQ(manager.last_cycle()->counts.links, links - 1);
  const sim::PortSpec cable = fabric.spec().nodes[spine].ports[2];
  const Guid leaf = fabric.spec().nodes[cable.peer_node].guid;
  const Lid mute = fabric.port_info(cable.peer_node, PortNum{0}).lid;

  // The leaf's trap is lost, so that it is met across the cable. Once it was, both ends are down,
  // and when the look is over, up again; nobody says so.
  bool met = false, over = false;
  tap.on_receive = [&](Smp& smp) {
    if (smp.method == Method::Trap) {
      const auto notice = decode_notice(smp.data);
      return !over && notice && notice->issuer_lid != mute;
    }
    if (is_about(smp, AttributeId::NodeInfo)) {
      const auto info = decode_node_info(smp.data);
      met = met || (info && info->node_guid == leaf);
    }
    const PortNum number = decode_port_info_modifier(smp.attribute_modifier).port;
    const bool is_end = (smp.hop_count == 2 && number == PortNum{2}) ||
                        (smp.hop_count > 2 && number == cable.peer_port);
    if (auto info = decode_port_info(smp.data);
        met && !over && is_end && info && is_about(smp, AttributeId::PortInfo)) {
      info->port_state = static_cast<std::uint8_t>(PortState::Down);
      encode_port_info(*info, smp.data);
    }
    return true;
  };
  on_phase = [&](smd::Phase phase) {
    if (over || !met || phase == smd::Phase::Discovering) return;
    over = true;
    fabric.set_link(spine, PortNum{2}, false);
    fabric.set_link(spine, PortNum{2}, true);
  };
  fabric.set_link(spine, PortNum{2}, true);
  ASSERT_TRUE(settle());
  EXPECT_TRUE(over);
  EXPECT_EQ(manager.last_cycle()->counts.links, links);
  EXPECT_EQ(manager.last_cycle()->reason, "a change while it was looked at");
}

TEST_F(ManagerMemory, ASwitchOfAnotherSizeIsReadAnew) {
  bring_up();
  const Guid leaf = guid("sw-0-1");
  const std::uint64_t before = count_gets(AttributeId::LinearForwardingTable);
  manager.request_light_sweep();
  run_for(std::chrono::seconds(1));
  ASSERT_EQ(count_gets(AttributeId::LinearForwardingTable), before) << "nothing is new";

  // Its firmware was changed: other capacities, and who knows what in the tables.
  std::vector<std::uint64_t> of_leaf;
  tap.on_receive = [&](Smp& smp) {
    if (!is_about(smp, AttributeId::SwitchInfo)) return true;
    auto info = decode_switch_info(smp.data);
    if (!info) return true;
    info->linear_fdb_cap = static_cast<std::uint16_t>(info->linear_fdb_cap / 2);
    encode_switch_info(*info, smp.data);
    return true;
  };
  const std::uint32_t host = fabric.spec().nodes[node("sw-0-1")].ports[1].peer_node;
  fabric.set_link(host, PortNum{1}, false);
  ASSERT_TRUE(settle());
  EXPECT_TRUE(reports.back().partial) << reports.back().full_why;
  EXPECT_GT(count_gets(AttributeId::LinearForwardingTable), before);
  EXPECT_TRUE(manager.in_force()->fabric().find_node(leaf));
}

TEST_F(ManagerMemory, AHostThatReturnsHasItsKeysLookedAtAgain) {
  bring_up();
  run_for(std::chrono::seconds(1));
  const std::uint64_t before = count_gets(AttributeId::PKeyTable);
  EXPECT_GT(before, 0u);
  fabric.set_link(node("host-00005"), PortNum{1}, false);
  ASSERT_TRUE(settle());
  EXPECT_EQ(count_gets(AttributeId::PKeyTable), before) << "nobody came up";
  fabric.set_link(node("host-00005"), PortNum{1}, true);
  ASSERT_TRUE(settle());
  EXPECT_GT(count_gets(AttributeId::PKeyTable), before);
}

}  // namespace
}  // namespace smd::test

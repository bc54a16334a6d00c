#include "smd/policy/port_policy.h"

#include <gtest/gtest.h>

#include "tests/support/fabric_text.h"

namespace smd {
namespace {

/// S1 with H1 on it, and a link to S2; every port reports `edit`ed capabilities.
class PortPolicyTest : public testing::Test {
 protected:
  PortPolicyTest() {
    fabric = test::fabric_from("S1:1-H1:1 S1:2-S2:1");
    lids = test::lids_in_order(fabric);
    for (PortInfo& info : fabric.port_info) {
      info.mtu_cap = 5;
      info.vl_cap = 4;
    }
    policy.master_sm_lid = Lid{1};
  }

  PortInfo desired(const char* name) {
    return desired_port_info(fabric, lids, test::port(fabric, name), policy);
  }

  PortInfo& info(const char* name) { return fabric.port_info[test::port(fabric, name)]; }

  Fabric fabric;
  LidMap lids;
  PortPolicy policy;
};

TEST_F(PortPolicyTest, MtuAndLanesAreWhatBothEndsHave) {
  info("H1:1").mtu_cap = 4;
  info("S1:2").vl_cap = 2;
  EXPECT_EQ(desired("S1:1").neighbor_mtu, 4);
  EXPECT_EQ(desired("H1:1").neighbor_mtu, 4);
  EXPECT_EQ(desired("S2:1").neighbor_mtu, 5);
  EXPECT_EQ(desired("S2:1").operational_vls, 2);
  EXPECT_EQ(desired("S1:2").operational_vls, 2);
}

TEST_F(PortPolicyTest, TheSiteMayAskForLess) {
  policy.mtu_max = Mtu::B1024;
  policy.max_operational_vls = 1;
  EXPECT_EQ(desired("S1:2").neighbor_mtu, 3);
  EXPECT_EQ(desired("S1:2").operational_vls, 1);
}

TEST_F(PortPolicyTest, AnAgentWithoutCapabilitiesStillHasOneLaneAnd256Bytes) {
  info("H1:1").mtu_cap = 0;
  info("H1:1").vl_cap = 0;
  EXPECT_EQ(desired("S1:1").neighbor_mtu, 1);
  EXPECT_EQ(desired("S1:1").operational_vls, 1);
}

TEST_F(PortPolicyTest, LeavesHaveTheirOwnHeadOfQueueLife) {
  policy.hoq_life = 15;
  policy.leaf_hoq_life = 11;
  EXPECT_EQ(desired("S1:1").hoq_life, 11);
  EXPECT_EQ(desired("S1:2").hoq_life, 15);
}

TEST_F(PortPolicyTest, NothingWaitsInAdaptersThatPassesThrough) {
  policy.hoq_life = 15;
  policy.leaf_hoq_life = 11;
  policy.vl_stall_count = policy.leaf_vl_stall_count = 3;
  info("H1:1").hoq_life = 4;
  info("H1:1").vl_stall_count = 5;
  EXPECT_EQ(desired("H1:1").hoq_life, 4);
  EXPECT_EQ(desired("H1:1").vl_stall_count, 5);
  EXPECT_EQ(desired("S1:1").vl_stall_count, 3);
}

TEST_F(PortPolicyTest, ABasePort0IsManagedAndHasNoStateToComeTo) {
  const PortIdx port = test::port(fabric, "S1:0");
  fabric.switch_info[fabric.switch_at(port)].enhanced_port0 = true;
  EXPECT_TRUE(is_to_be_active(fabric, lids, port));
  fabric.switch_info[fabric.switch_at(port)].enhanced_port0 = false;
  EXPECT_TRUE(is_managed(fabric, port));
  EXPECT_FALSE(lacks_lid(fabric, lids, port));
  EXPECT_FALSE(is_to_be_active(fabric, lids, port));
  EXPECT_TRUE(is_to_be_active(fabric, lids, test::port(fabric, "S1:1")));
}

TEST_F(PortPolicyTest, OnlyEndPortsGetAddresses) {
  EXPECT_EQ(desired("S1:0").lid, lids.base[test::port(fabric, "S1:0")]);
  EXPECT_EQ(desired("H1:1").lid, lids.base[test::port(fabric, "H1:1")]);
  EXPECT_EQ(desired("H1:1").master_sm_lid, Lid{1});
  EXPECT_EQ(desired("S1:2").lid, info("S1:2").lid);
}

TEST_F(PortPolicyTest, TheStateAloneIsNoDifference) {
  PortInfo now = desired("H1:1");
  PortInfo wanted = now;
  now.port_state = static_cast<std::uint8_t>(PortState::Active);
  EXPECT_FALSE(differs(now, wanted));
  wanted.subnet_timeout = static_cast<std::uint8_t>(now.subnet_timeout ^ 1);
  EXPECT_TRUE(differs(now, wanted));
}

TEST_F(PortPolicyTest, ASetChangesNoLinkRate) {
  PortInfo wanted = desired("H1:1");
  wanted.link_width_enabled = 3;
  wanted.link_speed_enabled = 7;
  wanted.link_speed_ext_enabled = 3;
  wanted.port_physical_state = 5;
  const PortInfo body = set_body(wanted, PortState::Armed);
  EXPECT_EQ(body.port_state, 3);
  EXPECT_EQ(body.link_width_enabled + body.link_speed_enabled + body.link_speed_ext_enabled, 0);
  EXPECT_EQ(body.port_physical_state, 0);
  EXPECT_EQ(body.lid, wanted.lid);
}

TEST_F(PortPolicyTest, NoPortWithALinkSleepsWhenItIsLost) {
  info("S1:1").link_down_default_state = 1;
  info("S1:2").link_down_default_state = 2;
  EXPECT_EQ(desired("S1:1").link_down_default_state, 2);
  EXPECT_TRUE(differs(info("S1:1"), desired("S1:1")));
  EXPECT_EQ(desired("S1:2").link_down_default_state, 2);
  EXPECT_EQ(desired("S2:1").link_down_default_state, 0) << "an agent that says nothing of it";
  EXPECT_EQ(set_body(desired("S1:1"), PortState::Armed).link_down_default_state, 2);
  EXPECT_EQ(set_body(info("S1:1"), PortState::Armed).link_down_default_state, 0) << "no change";
}

TEST_F(PortPolicyTest, PortsWithoutACableAreLeftAlone) {
  const Fabric open = test::fabric_from("S1:1-H1:1 S1/8");
  EXPECT_TRUE(is_managed(open, test::port(open, "S1:0")));
  EXPECT_TRUE(is_managed(open, test::port(open, "S1:1")));
  EXPECT_FALSE(is_managed(open, test::port(open, "S1:5")));
  EXPECT_FALSE(is_managed(open, test::port(open, "H1:0")));
}

}  // namespace
}  // namespace smd

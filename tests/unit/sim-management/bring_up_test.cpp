// What a manager needs first: directed and LID-routed Get and Set of the basic attributes.
#include <gmock/gmock.h>

#include "tests/unit/sim-management/examples.h"

namespace smd::sim::test {
namespace {

using ::testing::ElementsAre;

class BringUp : public ::testing::Test {
 protected:
  Rig rig_{line()};
};

TEST_F(BringUp, AnswersNodeInfoOfItselfAndAlongThePath) {
  const auto self = rig_.ask(get({}, AttributeId::NodeInfo));
  ASSERT_TRUE(self.has_value());
  EXPECT_EQ(decode_node_info(self->data).value().node_guid, Guid{0x100});

  const auto far = rig_.ask(get({1, 2, 3}, AttributeId::NodeInfo));
  ASSERT_TRUE(far.has_value());
  const NodeInfo info = decode_node_info(far->data).value();
  EXPECT_EQ(info.node_guid, Guid{0x400});
  EXPECT_EQ(info.port_guid, Guid{0x401});
  EXPECT_EQ(info.local_port, PortNum{1});
  EXPECT_EQ(info.num_ports, 1);
  EXPECT_EQ(far->method, Method::GetResp);
  EXPECT_TRUE(far->returning);
  EXPECT_EQ(far->hop_pointer, 0);
  EXPECT_THAT(return_hops(*far), ElementsAre(1u, 1u, 1u));
}

TEST_F(BringUp, KnowsNodeDescriptions) {
  const auto answer = rig_.ask(get({1, 2}, AttributeId::NodeDescription));
  ASSERT_TRUE(answer.has_value());
  EXPECT_EQ(decode_node_description(answer->data).value(), "s2");
}

TEST_F(BringUp, WakesUpWithoutLidsAndWithItsLinksInInitialize) {
  const auto answer = rig_.ask(get({1}, AttributeId::PortInfo, 2));
  ASSERT_TRUE(answer.has_value());
  const PortInfo info = decode_port_info(answer->data).value();
  EXPECT_EQ(info.state(), PortState::Initialize);
  EXPECT_EQ(info.port_physical_state, static_cast<std::uint8_t>(PhysState::LinkUp));
  EXPECT_EQ(info.local_port, PortNum{1});
  const auto open = rig_.ask(get({1}, AttributeId::PortInfo, 4));
  EXPECT_EQ(decode_port_info(open->data).value().state(), PortState::Down);
  const auto port0 = rig_.ask(get({1}, AttributeId::PortInfo, 0));
  EXPECT_EQ(decode_port_info(port0->data).value().lid, kUnassignedLid);
  const auto sw = rig_.ask(get({1}, AttributeId::SwitchInfo));
  EXPECT_TRUE(decode_switch_info(sw->data).value().port_state_change);
}

TEST_F(BringUp, RoutesByLidOnceTheTablesSayHow) {
  configure_line(rig_);
  for (unsigned lid = 1; lid <= 4; ++lid) {
    const auto answer = rig_.ask(request(Method::Get, AttributeId::NodeInfo), lid_of(lid));
    ASSERT_TRUE(answer.has_value()) << lid;
    EXPECT_EQ(decode_node_info(answer->data).value().node_guid, Guid{0x100u * lid});
    EXPECT_EQ(rig_.arrivals[0].packet.remote_lid, lid_of(lid));
  }
  EXPECT_EQ(rig_.fabric.lft(2, Lid{4}), PortNum{3});
  EXPECT_EQ(rig_.fabric.lft(2, Lid{5}), kNoRoute);
}

TEST_F(BringUp, DropsWhatHasNoRoute) {
  rig_.set_lid({}, 1, 1);
  EXPECT_FALSE(rig_.ask(request(Method::Get, AttributeId::NodeInfo), Lid{4}).has_value());
  EXPECT_EQ(rig_.fabric.stats().dropped_route, 1u);
}

TEST_F(BringUp, StartsWithTheLidsOfTheFabricFile) {
  FabricSpec spec = line();
  spec.nodes[1].ports[0].lid = Lid{17};
  spec.nodes[3].ports[1].lid = Lid{32};
  spec.nodes[3].ports[1].lmc = 2;
  Rig rig(spec);
  EXPECT_EQ(rig.fabric.port_info(1, PortNum{0}).lid, Lid{17});
  EXPECT_EQ(rig.fabric.port_info(3, PortNum{1}).lid, Lid{32});
  EXPECT_EQ(rig.fabric.port_info(3, PortNum{1}).lmc, 2);
  rig.fabric.set_node(3, false);
  rig.fabric.set_node(3, true);
  EXPECT_EQ(rig.fabric.port_info(3, PortNum{1}).lid, kUnassignedLid) << "registers are volatile";
}

TEST(FindNode, TakesDescriptionIdOrGuidButNotTwoOfAKind) {
  FabricSpec spec = line();
  EXPECT_EQ(find_node(spec, "s2"), 2u);
  EXPECT_EQ(find_node(spec, "0x0000000000000400"), 3u);
  spec.nodes[3].id = "H-0400";
  EXPECT_EQ(find_node(spec, "H-0400"), 3u);
  EXPECT_EQ(find_node(spec, "nobody"), kNoNode);
  spec.nodes[1].description = "s2";
  EXPECT_EQ(find_node(spec, "s2"), kNoNode);
}

}  // namespace
}  // namespace smd::sim::test

// What a manager needs first: directed and LID-routed Get and Set of the basic attributes.
#include <gmock/gmock.h>

#include "smd/mad/node_info.h"
#include "smd/mad/port_info.h"
#include "smd/mad/switch_info.h"
#include "smd/mad/tables.h"
#include "tests/unit/sim-management/rig.h"

namespace smd::sim::test {
namespace {

using ::testing::ElementsAre;

//  H0.1 - 1.S1.2 - 1.S2.3 - 1.H3
class Line : public ::testing::Test {
 protected:
  static FabricSpec spec() {
    Drawing draw;
    const auto h0 = draw.ca("h0");
    const auto s1 = draw.sw("s1");
    const auto s2 = draw.sw("s2");
    const auto h3 = draw.ca("h3");
    draw.cable(h0, 1, s1, 1);
    draw.cable(s1, 2, s2, 1);
    draw.cable(s2, 3, h3, 1);
    return draw.spec();
  }

  void set_lid(std::initializer_list<unsigned> path, unsigned port, std::uint16_t lid) {
    const auto got = rig_.ask(get(path, AttributeId::PortInfo, port));
    ASSERT_TRUE(got.has_value());
    PortInfo info = decode_port_info(got->data).value();
    info.lid = Lid{lid};
    info.master_sm_lid = Lid{1};
    info.port_state = 0;
    info.port_physical_state = 0;
    Smp set = along(path, request(Method::Set, AttributeId::PortInfo, port));
    encode_port_info(info, set.data);
    const auto answer = rig_.ask(set);
    ASSERT_TRUE(answer.has_value());
    EXPECT_EQ(answer->status, 0);
    EXPECT_EQ(decode_port_info(answer->data).value().lid, Lid{lid});
  }

  void set_lft(std::initializer_list<unsigned> path, std::initializer_list<unsigned> ports) {
    LftBlock block;
    block.fill(kNoRoute);
    std::size_t lid = 1;
    for (const unsigned port : ports) block[lid++] = PortNum{static_cast<std::uint8_t>(port)};
    Smp set = along(path, request(Method::Set, AttributeId::LinearForwardingTable, 0));
    encode_lft_block(block, set.data);
    const auto answer = rig_.ask(set);
    ASSERT_TRUE(answer.has_value());
    EXPECT_EQ(decode_lft_block(answer->data).value(), block);

    Smp top = along(path, request(Method::Set, AttributeId::SwitchInfo, 0));
    encode_switch_info({.linear_fdb_top = 4, .port_state_change = true}, top.data);
    const auto cleared = rig_.ask(top);
    ASSERT_TRUE(cleared.has_value());
    EXPECT_EQ(decode_switch_info(cleared->data).value().linear_fdb_top, 4);
    EXPECT_FALSE(decode_switch_info(cleared->data).value().port_state_change);
  }

  Rig rig_{spec()};
};

TEST_F(Line, AnswersNodeInfoOfItselfAndAlongThePath) {
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

TEST_F(Line, KnowsNodeDescriptions) {
  const auto answer = rig_.ask(get({1, 2}, AttributeId::NodeDescription));
  ASSERT_TRUE(answer.has_value());
  EXPECT_EQ(decode_node_description(answer->data).value(), "s2");
}

TEST_F(Line, WakesUpWithoutLidsAndWithItsLinksInInitialize) {
  const auto answer = rig_.ask(get({1}, AttributeId::PortInfo, 2));
  ASSERT_TRUE(answer.has_value());
  const PortInfo info = decode_port_info(answer->data).value();
  EXPECT_EQ(info.state(), PortState::Initialize);
  EXPECT_EQ(active_speed(info), LinkSpeed::Edr);
  EXPECT_EQ(active_width(info), LinkWidth::X4);
  const auto open = rig_.ask(get({1}, AttributeId::PortInfo, 4));
  EXPECT_EQ(decode_port_info(open->data).value().state(), PortState::Down);
  const auto sw = rig_.ask(get({1}, AttributeId::SwitchInfo));
  EXPECT_TRUE(decode_switch_info(sw->data).value().port_state_change);
}

TEST_F(Line, RoutesByLidOnceTheTablesSayHow) {
  set_lid({}, 1, 1);
  set_lid({1}, 0, 2);
  set_lid({1, 2}, 0, 3);
  set_lid({1, 2, 3}, 1, 4);
  set_lft({1}, {1, 0, 2, 2});
  set_lft({1, 2}, {1, 1, 0, 3});

  for (const auto& [lid, guid] :
       {std::pair{1, 0x100u}, std::pair{2, 0x200u}, std::pair{3, 0x300u}, std::pair{4, 0x400u}}) {
    const auto answer =
        rig_.ask(request(Method::Get, AttributeId::NodeInfo), Lid{static_cast<std::uint16_t>(lid)});
    ASSERT_TRUE(answer.has_value()) << lid;
    EXPECT_EQ(decode_node_info(answer->data).value().node_guid, Guid{guid});
    EXPECT_EQ(rig_.arrivals[0].packet.remote_lid, Lid{static_cast<std::uint16_t>(lid)});
  }
  EXPECT_EQ(rig_.fabric.lft(2, Lid{4}), PortNum{3});
  EXPECT_EQ(rig_.fabric.lft(2, Lid{5}), kNoRoute);
}

TEST_F(Line, DropsWhatHasNoRoute) {
  set_lid({}, 1, 1);
  EXPECT_FALSE(rig_.ask(request(Method::Get, AttributeId::NodeInfo), Lid{4}).has_value());
  EXPECT_EQ(rig_.fabric.stats().dropped_route, 1u);
}

}  // namespace
}  // namespace smd::sim::test

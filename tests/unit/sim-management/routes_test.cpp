// Routes through the thesis's example network: the request paths and return paths of its Tables
// 12, 14 and 15.
#include <gmock/gmock.h>

#include "tests/unit/sim-management/examples.h"

namespace smd::sim::test {
namespace {

struct Row {
  const char* name;
  unsigned first_lid;  // of the LID-routed part; 0 when there is none
  std::vector<unsigned> path;
  std::vector<unsigned> back;
  unsigned reaches;  // label
};

void PrintTo(const Row& row, std::ostream* out) { *out << row.name; }

class ThesisRoutes : public ::testing::TestWithParam<Row> {};

TEST_P(ThesisRoutes, ReachesTheNodeAndReturns) {
  const Row& row = GetParam();
  Rig rig(figure(true));
  rig.set_lid({}, 1, 1);
  rig.set_lid({1}, 0, 2);
  rig.set_lid({1, 2}, 0, 4);
  rig.set_lid({1, 2, 2}, 0, 8);
  rig.set_lid({1, 2, 3}, 0, 9);
  rig.set_routes({1}, {{1, 3}, {2, 0}, {4, 2}, {8, 2}, {9, 2}});
  rig.set_routes({1, 2}, {{1, 1}, {2, 1}, {4, 0}, {8, 2}, {9, 3}});
  rig.set_routes({1, 2, 2}, {{1, 1}, {8, 0}});
  rig.set_routes({1, 2, 3}, {{1, 1}, {9, 0}});

  Smp smp = request(Method::Get, AttributeId::NodeDescription);
  smp.directed = true;
  smp.hop_count = static_cast<std::uint8_t>(row.path.size());
  for (std::size_t i = 0; i < row.path.size(); ++i) {
    smp.initial_path[i + 1] = static_cast<std::uint8_t>(row.path[i]);
  }
  if (row.first_lid != 0) smp.dr_slid = Lid{1};
  const auto answer = rig.ask(smp, row.first_lid == 0 ? kPermissiveLid : lid_of(row.first_lid));
  ASSERT_TRUE(answer.has_value());
  EXPECT_EQ(decode_node_description(answer->data).value(), "node-" + std::to_string(row.reaches));
  EXPECT_EQ(return_hops(*answer), row.back);
  EXPECT_EQ(answer->hop_pointer, 0);
  EXPECT_EQ(answer->transaction_id, smp.transaction_id);
  EXPECT_EQ(rig.arrivals[0].packet.remote_lid,
            row.first_lid == 0 ? kPermissiveLid : lid_of(row.first_lid));
}

INSTANTIATE_TEST_SUITE_P(Tables,
                         ThesisRoutes,
                         ::testing::Values(Row{"12_row_1", 0, {}, {}, 1},
                                           Row{"12_row_4", 0, {1}, {3}, 2},
                                           Row{"12_row_12", 0, {1, 1}, {4, 3}, 3},
                                           Row{"12_row_13", 0, {1, 2}, {1, 3}, 4},
                                           Row{"12_row_14", 0, {1, 3}, {1, 3}, 1},
                                           Row{"14_row_343", 8, {}, {}, 8},
                                           Row{"14_row_356", 8, {3}, {2}, 16},
                                           Row{"14_row_357", 9, {3}, {4}, 16},
                                           Row{"14_row_365", 8, {3, 1}, {1, 2}, 17},
                                           Row{"14_row_366", 8, {3, 2}, {3, 2}, 8},
                                           Row{"14_row_367", 8, {3, 3}, {1, 2}, 18},
                                           Row{"14_row_368", 8, {3, 4}, {3, 2}, 9},
                                           Row{"15_row_351", 4, {4}, {2}, 6},
                                           Row{"15_row_357", 4, {4, 3}, {2, 2}, 10},
                                           Row{"15_row_358", 4, {4, 3, 1}, {1, 2, 2}, 5}),
                         [](const auto& test) { return std::string("Table_") + test.param.name; });

TEST(Routes, AFinalLidRoutedPartEndsAtItsNode) {
  // Directed to s1, then by LID to h3: DrDLID is set, and the answer goes back through s1.
  Rig rig(line());
  configure_line(rig);
  Smp smp = get({1}, AttributeId::NodeDescription);
  smp.dr_dlid = Lid{4};
  const auto answer = rig.ask(smp);
  ASSERT_TRUE(answer.has_value());
  EXPECT_EQ(decode_node_description(answer->data).value(), "h3");
  EXPECT_EQ(answer->hop_pointer, 0);
}

TEST(Routes, LidRoutedPartsAtBothEndsWorkTogether) {
  Rig rig(line());
  configure_line(rig);
  Smp smp = get({2}, AttributeId::NodeDescription);  // s1 out of port 2 to s2
  smp.dr_slid = Lid{1};
  smp.dr_dlid = Lid{4};
  const auto answer = rig.ask(smp, Lid{2});
  ASSERT_TRUE(answer.has_value());
  EXPECT_EQ(decode_node_description(answer->data).value(), "h3");
}

TEST(Routes, AManagerOnASwitchStartsWithItsOwnPorts) {
  Rig rig(line(), Timing::none(), 1, {}, 1, 0);
  const auto self = rig.ask(get({}, AttributeId::NodeInfo));
  ASSERT_TRUE(self.has_value());
  EXPECT_EQ(decode_node_info(self->data).value().local_port, PortNum{0});
  const auto host = rig.ask(get({2, 3}, AttributeId::NodeDescription));
  ASSERT_TRUE(host.has_value());
  EXPECT_EQ(decode_node_description(host->data).value(), "h3");

  rig.set_lid({}, 0, 1);
  rig.set_lid({2}, 0, 2);
  rig.set_routes({}, {{1, 0}, {2, 2}});
  rig.set_routes({2}, {{1, 1}, {2, 0}});
  const auto by_lid = rig.ask(request(Method::Get, AttributeId::NodeDescription), Lid{2});
  ASSERT_TRUE(by_lid.has_value());
  EXPECT_EQ(decode_node_description(by_lid->data).value(), "s2");
}

TEST(Routes, ThePermissiveLidMeansTheNeighbour) {
  Rig rig(line());
  const auto answer = rig.ask(request(Method::Get, AttributeId::NodeDescription), kPermissiveLid);
  // A LID-routed SMP without an address is taken by whoever receives it; its answer has no
  // better address either.
  ASSERT_FALSE(answer.has_value());
  EXPECT_EQ(rig.fabric.stats().agent_requests, 1u);
  rig.set_lid({}, 1, 1);
  rig.set_routes({1}, {{1, 1}});
  const auto known = rig.ask(request(Method::Get, AttributeId::NodeDescription), kPermissiveLid);
  ASSERT_TRUE(known.has_value());
  EXPECT_EQ(decode_node_description(known->data).value(), "s1");
}

TEST(Routes, ATableThatPointsBackDropsAndCounts) {
  Rig rig(line());
  configure_line(rig);
  rig.set_routes({1, 2}, {{1, 1}, {4, 1}});
  EXPECT_FALSE(rig.ask(request(Method::Get, AttributeId::NodeInfo), Lid{4}).has_value());
  EXPECT_EQ(rig.fabric.stats().dropped_route, 1u);
  EXPECT_EQ(rig.fabric.node_state(2).ports[1].counters.rcv_switch_relay_errors, 1);
}

TEST(Routes, ATableLoopEnds) {
  //  h0 - s1 = s2 with two cables: LID 9 circles between them.
  Drawing draw;
  const auto h0 = draw.ca("h0");
  const auto s1 = draw.sw("s1");
  const auto s2 = draw.sw("s2");
  draw.cable(h0, 1, s1, 1);
  draw.cable(s1, 2, s2, 2);
  draw.cable(s1, 3, s2, 3);
  Rig rig(draw.spec());
  rig.set_lid({}, 1, 1);
  rig.set_routes({1}, {{9, 2}});
  rig.set_routes({1, 2}, {{9, 3}});
  EXPECT_FALSE(rig.ask(request(Method::Get, AttributeId::NodeInfo), Lid{9}).has_value());
  EXPECT_EQ(rig.fabric.stats().dropped_route, 1u);
}

TEST(Routes, ALoopbackCableLeadsHome) {
  //  s1.2 - s1.3, and a plug that ties port 4 to itself.
  Drawing draw;
  const auto h0 = draw.ca("h0");
  const auto s1 = draw.sw("s1");
  draw.cable(h0, 1, s1, 1);
  draw.cable(s1, 2, s1, 3);
  draw.cable(s1, 4, s1, 4);
  Rig rig(draw.spec());
  const auto around = rig.ask(get({1, 2}, AttributeId::NodeInfo));
  ASSERT_TRUE(around.has_value());
  EXPECT_EQ(decode_node_info(around->data).value().node_guid, Guid{0x200});
  EXPECT_EQ(decode_node_info(around->data).value().local_port, PortNum{3});
  const auto plug = rig.ask(get({1, 4}, AttributeId::NodeInfo));
  ASSERT_TRUE(plug.has_value());
  EXPECT_EQ(decode_node_info(plug->data).value().local_port, PortNum{4});
}

TEST(Routes, EachPortOfAnAdapterIsANodeOfItsOwn) {
  //  h0 has both ports on s1.
  Drawing draw;
  const auto h0 = draw.ca("h0", 2);
  const auto s1 = draw.sw("s1");
  draw.cable(h0, 1, s1, 1);
  draw.cable(h0, 2, s1, 2);
  Rig rig(draw.spec());
  const auto second = rig.ask(get({1, 2}, AttributeId::NodeInfo));
  ASSERT_TRUE(second.has_value());
  EXPECT_EQ(decode_node_info(second->data).value().port_guid, Guid{0x102});
  EXPECT_EQ(decode_node_info(second->data).value().local_port, PortNum{2});

  EXPECT_FALSE(rig.ask(get({2}, AttributeId::NodeInfo)).has_value())
      << "a client sends by its own port only";
  rig.set_lid({}, 1, 1);
  rig.set_lid({1, 2}, 2, 2);
  EXPECT_EQ(rig.fabric.port_info(0, PortNum{1}).lid, Lid{1});
  EXPECT_EQ(rig.fabric.port_info(0, PortNum{2}).lid, Lid{2});
  const auto other = rig.set_port({}, 2, [](PortInfo& info) { info.lid = Lid{7}; });
  ASSERT_TRUE(other.has_value());
  EXPECT_EQ(other->status, 0x1c) << "a Set reaches the port it came in by, no other";
  EXPECT_EQ(rig.fabric.port_info(0, PortNum{2}).lid, Lid{2});
}

TEST(Routes, AnAdapterDoesNotForward) {
  Drawing draw;
  const auto h0 = draw.ca("h0");
  const auto h1 = draw.ca("h1", 2);
  const auto h2 = draw.ca("h2");
  draw.cable(h0, 1, h1, 1);
  draw.cable(h1, 2, h2, 1);
  Rig rig(draw.spec());
  EXPECT_TRUE(rig.ask(get({1}, AttributeId::NodeInfo)).has_value());
  EXPECT_FALSE(rig.ask(get({1, 2}, AttributeId::NodeInfo)).has_value());
}

}  // namespace
}  // namespace smd::sim::test

#include "sim-backend/serve/switchboard.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "smd/mad/node_info.h"
#include "smd/mad/notice.h"
#include "smd/mad/port_info.h"
#include "tests/unit/sim-serve/served_fabric.h"

namespace smd::sim {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

constexpr auto kError = static_cast<std::uint32_t>(ControlType::Error);
constexpr std::uint64_t kId = 0x0001'0002'8000'0003;  // as a program and libumad2sim make it

Smp smp_of(const PacketFrame& frame) { return decode_smp(frame.mad).value(); }

TEST(Connect, TakesDescriptionGuidOrPort) {
  ServedFabric served;
  EXPECT_EQ(served.connect(1, "host-a"), 0u);
  EXPECT_EQ(served.connect(2, "0x00000000000000b0"), 1u);
  EXPECT_EQ(served.connect(3, "host-b[2]"), 2u);
  EXPECT_EQ(served.connect(4, "sw"), 3u);
  std::vector<std::pair<std::uint32_t, PortNum>> places;
  for (const ClientView& view : served.board.clients()) places.emplace_back(view.node, view.port);
  EXPECT_THAT(places,
              ElementsAre(std::pair{1u, PortNum{1}},
                          std::pair{2u, PortNum{1}},
                          std::pair{2u, PortNum{2}},
                          std::pair{0u, PortNum{0}}));
}

TEST(Connect, WithoutANameSitsWhereTheFabricWantsAManagerAndSaysSo) {
  ServedFabric served;
  const ConnectData granted = decode_connect(served.connect_reply(1, "").data);
  EXPECT_EQ(granted.node, "host-a");
}

TEST(Connect, RefusesUnknownNodesAndPorts) {
  ServedFabric served;
  for (const char* name : {"host-z", "host-a[2]", "host-a[0]", "host-a[x]", "host-a[", "[1]"}) {
    EXPECT_EQ(served.connect_reply(1, name).type, kError) << name;
  }
  EXPECT_THAT(served.board.clients(), IsEmpty());
}

TEST(Connect, RefusesAProcessThatHasNoSocket) {
  ServedFabric served;
  served.wire.dead_pids = {1};
  EXPECT_EQ(served.connect_reply(1, "host-a").type, kError);
  EXPECT_THAT(served.board.clients(), IsEmpty());
}

TEST(Connect, MakesRoomByDroppingTheDead) {
  ServedFabric served({.max_clients = 2});
  served.connect(1, "host-a");
  served.connect(2, "host-a");
  EXPECT_EQ(served.connect_reply(3, "host-a").type, kError);
  served.wire.dead_pids = {1};
  EXPECT_EQ(served.connect(3, "host-a"), 0u);
}

TEST(Connect, AProcessThatComesTwiceIsOneClient) {
  ServedFabric served;
  served.connect(1, "host-a");
  served.connect(1, "host-b");
  EXPECT_THAT(served.board.clients(), SizeIs(1));
}

TEST(Control, AnswersWhatLibumad2simAsks) {
  ServedFabric served;
  const unsigned client = served.connect(1, "host-b[2]");
  const NodeInfo node =
      decode_node_info(served.control(ControlType::GetNodeInfo, client).data).value();
  EXPECT_EQ(node.node_guid, Guid{0xb0});
  EXPECT_EQ(node.num_ports, 2);
  EXPECT_EQ(node.local_port, PortNum{2});
  const PortInfo port =
      decode_port_info(served.control(ControlType::GetPortInfo, client).data).value();
  EXPECT_EQ(port.local_port, PortNum{2});
  EXPECT_EQ(port.state(), PortState::Down);
  ControlData first{};
  first[0] = std::byte{1};
  EXPECT_EQ(decode_port_info(served.control(ControlType::GetPortInfo, client, first).data)->state(),
            PortState::Initialize);
  const PKeyBlock keys =
      decode_p_key_block(served.control(ControlType::GetPKeys, client).data).value();
  EXPECT_EQ(keys[0], kDefaultPKey);
  EXPECT_EQ(keys[1], PKey{0});
  EXPECT_EQ(served.control(ControlType::GetGuid, client).data[7], std::byte{0xb0});
  EXPECT_EQ(served.control(ControlType::GetGid, client).data[0], std::byte{0xfe});
  EXPECT_EQ(served.control(ControlType::GetPort, client).data[2], std::byte{1});
  EXPECT_NE(served.control(ControlType::GetVendor, client).type, kError);
}

TEST(Control, AnswersNonsenseWithAnError) {
  ServedFabric served;
  EXPECT_EQ(served.control(ControlType::GetPort, 0).type, kError) << "nobody is attached";
  EXPECT_EQ(served.control(ControlType::GetPort, 4000000000u).type, kError);
  served.connect(1, "host-a");
  EXPECT_EQ(served.control(ControlType{11}, 0).type, kError);
  EXPECT_EQ(served.control(ControlType{0}, 0).type, kError);
}

TEST(Requests, ComeBackUnderTheirOwnIdWithTheAgentsAnswer) {
  ServedFabric served;
  const unsigned client = served.connect(1, "host-a");
  served.send(client, directed_get(AttributeId::NodeInfo, {1, 2}, kId));
  ASSERT_THAT(served.wire.got[client], SizeIs(1));
  const PacketFrame& answer = served.wire.got[client][0];
  EXPECT_EQ(answer.status, 0u);
  EXPECT_EQ(answer.length, 256u);
  const Smp smp = smp_of(answer);
  EXPECT_EQ(smp.transaction_id, kId);
  EXPECT_EQ(decode_node_info(smp.data)->node_guid, Guid{0xb0});
}

TEST(Requests, OfTwoClientsOnOnePortWithTheSameIdKeepApart) {
  ServedFabric served;
  const unsigned one = served.connect(1, "host-a");
  const unsigned two = served.connect(2, "host-a");
  served.board.on_packet(one, directed_get(AttributeId::NodeInfo, {1, 2}, kId));
  served.board.on_packet(two, directed_get(AttributeId::NodeInfo, {1}, kId));
  served.run();
  ASSERT_THAT(served.wire.got[one], SizeIs(1));
  ASSERT_THAT(served.wire.got[two], SizeIs(1));
  EXPECT_EQ(decode_node_info(smp_of(served.wire.got[one][0]).data)->node_guid, Guid{0xb0});
  EXPECT_EQ(decode_node_info(smp_of(served.wire.got[two][0]).data)->node_guid, Guid{0x10});
}

TEST(Requests, ThatGetLostComeBackAsTheyWereWithStatus110) {
  ServedFabric served;
  const unsigned client = served.connect(1, "host-a");
  const PacketFrame request = directed_get(AttributeId::NodeInfo, {1, 3}, kId);
  served.send(client, request);
  ASSERT_THAT(served.wire.got[client], SizeIs(1));
  PacketFrame expected = request;
  expected.status = kStatusTimedOut;
  EXPECT_EQ(served.wire.got[client][0], expected);
  EXPECT_EQ(served.board.stats().timed_out, 1u);
  EXPECT_EQ(served.board.stats().retransmitted, 3u);
  EXPECT_EQ(served.board.clients()[0].waiting, 0u);
}

TEST(Requests, OfWhichTheWireEatsSomeAreSentAgain) {
  ServedFabric served({.agent_retries = 50});
  WireFaults faults;
  faults.drop = 0.3;
  served.fabric.set_wire_faults(faults);
  const unsigned client = served.connect(1, "host-a");
  for (std::uint64_t i = 1; i <= 100; ++i) {
    served.board.on_packet(client, directed_get(AttributeId::NodeInfo, {1, 2}, i));
  }
  served.run();
  EXPECT_THAT(served.wire.got[client], SizeIs(100));
  EXPECT_EQ(served.board.stats().timed_out, 0u);
  EXPECT_GT(served.board.stats().retransmitted, 0u);
}

TEST(Requests, OfAClientThatLeftAreForgotten) {
  ServedFabric served;
  const unsigned client = served.connect(1, "host-a");
  served.board.on_packet(client, directed_get(AttributeId::NodeInfo, {1, 2}, kId));
  served.control(ControlType::Disconnect, client);
  const unsigned other = served.connect(2, "host-a");
  served.run();
  EXPECT_EQ(other, client) << "the number is used again";
  EXPECT_THAT(served.wire.got[client], IsEmpty());
  EXPECT_EQ(served.board.stats().stray, 1u);
}

TEST(Requests, FromNobodyAreCountedAndDropped) {
  ServedFabric served;
  served.send(7, directed_get(AttributeId::NodeInfo, {}, kId));
  served.send(70000, directed_get(AttributeId::NodeInfo, {}, kId));
  EXPECT_EQ(served.board.stats().stray, 2u);
}

TEST(Manager, IsShownInTheCapabilityMaskUntilItsProcessDies) {
  ServedFabric served;
  const unsigned client = served.connect(1, "host-a");
  served.set_is_sm(client, true);
  EXPECT_TRUE(served.fabric.port_info(1, PortNum{1}).capability_mask & port_cap::kIsSm);
  served.wire.dead_pids = {1};
  served.board.disconnect_dead();
  EXPECT_FALSE(served.fabric.port_info(1, PortNum{1}).capability_mask & port_cap::kIsSm);
}

TEST(Manager, OneOnAPort) {
  ServedFabric served;
  const unsigned one = served.connect(1, "host-a");
  const unsigned two = served.connect(2, "host-a");
  ControlData yes{};
  yes[0] = std::byte{1};
  EXPECT_NE(served.control(ControlType::SetIsSm, one, yes).type, kError);
  EXPECT_EQ(served.control(ControlType::SetIsSm, two, yes).type, kError);
  served.wire.dead_pids = {1};
  EXPECT_NE(served.control(ControlType::SetIsSm, two, yes).type, kError);
}

TEST(Manager, GetsSmInfoRequestsAndItsAnswerFindsTheAsker) {
  ServedFabric served;
  const unsigned manager = served.connect(1, "host-a");
  const unsigned bystander = served.connect(2, "host-a");
  const unsigned asker = served.connect(3, "host-b");
  served.set_is_sm(manager, true);
  served.run();
  served.wire.got.clear();
  served.send(asker, directed_get(AttributeId::SmInfo, {1, 1}, kId));
  ASSERT_THAT(served.wire.got[manager], SizeIs(1));
  EXPECT_THAT(served.wire.got[bystander], IsEmpty());

  PacketFrame answer = served.wire.got[manager][0];
  answer.dlid = answer.slid;
  Smp smp = smp_of(answer);
  smp.method = Method::GetResp;
  smp.returning = true;
  smp.hop_pointer = 0;  // as programs on libumad2sim leave it
  smp.data[0] = std::byte{0x77};
  encode_smp(smp, answer.mad);
  served.send(manager, answer);
  ASSERT_THAT(served.wire.got[asker], SizeIs(1));
  EXPECT_EQ(served.wire.got[asker][0].status, 0u);
  EXPECT_EQ(smp_of(served.wire.got[asker][0]).transaction_id, kId);
  EXPECT_EQ(smp_of(served.wire.got[asker][0]).data[0], std::byte{0x77});
}

TEST(Manager, MayTakeItsTimeButNotForever) {
  ServedFabric served({.program_timeout = std::chrono::seconds(10)});
  const unsigned manager = served.connect(1, "host-a");
  const unsigned asker = served.connect(2, "host-b");
  served.set_is_sm(manager, true);
  served.send(asker, directed_get(AttributeId::SmInfo, {1, 1}, kId));
  EXPECT_THAT(served.wire.got[asker], IsEmpty());
  served.runtime.run_until(served.runtime.now() + std::chrono::seconds(10));
  ASSERT_THAT(served.wire.got[asker], SizeIs(1));
  EXPECT_EQ(served.wire.got[asker][0].status, kStatusTimedOut);
}

// Gives every port what a trap needs: the LIDs 1 (switch) and 2 (host-a, the manager's) and a
// route.
void bring_up(ServedFabric& served, unsigned client) {
  const auto set = [&](AttributeId attribute,
                       std::uint32_t modifier,
                       const SmpData& data,
                       std::vector<std::uint8_t> path) {
    PacketFrame frame = directed_get(attribute, std::move(path), kId);
    Smp smp = smp_of(frame);
    smp.method = Method::Set;
    smp.attribute_modifier = modifier;
    smp.data = data;
    encode_smp(smp, frame.mad);
    served.send(client, frame);
    ASSERT_EQ(smp_of(served.wire.got[client].back()).status, 0u);
  };
  SmpData data{};
  const auto port = [&](std::uint32_t node, PortNum number, unsigned lid) {
    PortInfo info = served.fabric.port_info(node, number);
    info.lid = Lid{static_cast<std::uint16_t>(lid)};
    info.master_sm_lid = Lid{2};
    info.port_state = info.port_physical_state = 0;
    info.link_width_enabled = info.link_speed_enabled = info.link_speed_ext_enabled = 0;
    info.neighbor_mtu = 4;
    encode_port_info(info, data);
  };
  port(0, PortNum{0}, 1);
  set(AttributeId::PortInfo, 0, data, {1});
  port(1, PortNum{1}, 2);
  set(AttributeId::PortInfo, 1, data, {});
  SwitchInfo info = served.fabric.switch_info(0);
  info.linear_fdb_top = 2;
  info.port_state_change = false;
  encode_switch_info(info, data);
  set(AttributeId::SwitchInfo, 0, data, {1});
  LftBlock lft;
  lft.fill(kNoRoute);
  lft[1] = PortNum{0};
  lft[2] = PortNum{1};
  encode_lft_block(lft, data);
  set(AttributeId::LinearForwardingTable, 0, data, {1});
  served.wire.got.clear();
}

TEST(Manager, RepressesATrapWhoseIdLibumad2simOverwrote) {
  ServedFabric served;
  const unsigned manager = served.connect(1, "host-a");
  served.set_is_sm(manager, true);
  bring_up(served, manager);

  served.fabric.set_link(0, PortNum{2}, false);
  served.runtime.run_until(served.runtime.now());
  ASSERT_FALSE(served.wire.got[manager].empty());
  PacketFrame repress = served.wire.got[manager].front();
  ASSERT_EQ(method_of(repress.mad), Method::Trap);
  repress.dlid = repress.slid;
  repress.mad[3] = static_cast<std::byte>(Method::TrapRepress);
  repress.mad[10] = std::byte{0};
  repress.mad[11] = std::byte{5};  // the agent's number
  served.send(manager, repress);
  const auto sent = served.fabric.stats().traps;
  served.runtime.run_until(served.runtime.now() + std::chrono::seconds(100));
  EXPECT_EQ(served.fabric.stats().traps, sent) << "a repressed trap is not repeated";
}

PacketFrame trap_of(std::uint64_t id) {
  PacketFrame trap{.dlid = Lid{1}, .dqp = 0, .sqp = 0, .length = kMadSize};
  Smp smp;
  smp.method = Method::Trap;
  smp.attribute_id = static_cast<std::uint16_t>(AttributeId::Notice);
  smp.transaction_id = id;
  encode_smp(smp, trap.mad);
  return trap;
}

struct ManagerAndBystander : testing::Test {
  ManagerAndBystander() {
    served.set_is_sm(manager, true);
    bring_up(served, manager);
  }

  ServedFabric served;
  const unsigned manager = served.connect(1, "host-a");
  const unsigned bystander = served.connect(2, "host-a");
};

TEST_F(ManagerAndBystander, ATrapThatNobodyRepressesComesBackOnceAsTheKernelGivesItBack) {
  const PacketFrame trap = trap_of(kId);
  served.board.on_packet(manager, trap);
  served.runtime.run_until(served.runtime.now() + std::chrono::milliseconds(900));
  EXPECT_THAT(served.wire.got[manager], IsEmpty());
  served.runtime.run_until(served.runtime.now() + std::chrono::seconds(10));
  ASSERT_THAT(served.wire.got[manager], SizeIs(1));
  PacketFrame expected = trap;
  expected.status = kStatusTimedOut;
  EXPECT_EQ(served.wire.got[manager][0], expected);
  EXPECT_THAT(served.wire.got[bystander], IsEmpty());
}

TEST_F(ManagerAndBystander, TheRepressOfATrapComesToItsSenderAndToNobodyElse) {
  const PacketFrame trap = trap_of(0x0000000300000012u);
  Smp smp = smp_of(trap);
  served.board.on_packet(manager, trap);

  MadPacket repress{.remote_lid = Lid{1}};
  smp.method = Method::TrapRepress;
  encode_smp(smp, repress.mad);
  const auto arrive = [&] {
    // As a master elsewhere answers: from port 0 of the switch.
    const auto master = served.fabric.attach(0, PortNum{0}, [](const MadPacket&) {});
    MadPacket out = repress;
    out.remote_lid = Lid{2};
    served.fabric.inject(master, out);
    served.fabric.detach(master);
    served.runtime.run_until(served.runtime.now() + std::chrono::seconds(1));
  };
  arrive();
  ASSERT_THAT(served.wire.got[manager], SizeIs(1));
  EXPECT_EQ(method_of(served.wire.got[manager][0].mad), Method::TrapRepress);
  EXPECT_EQ(smp_of(served.wire.got[manager][0]).transaction_id, smp.transaction_id);
  EXPECT_THAT(served.wire.got[bystander], IsEmpty());

  smp.transaction_id = 0x0000000300000013u;  // of no trap
  encode_smp(smp, repress.mad);
  arrive();
  EXPECT_THAT(served.wire.got[manager], SizeIs(1));
}

}  // namespace
}  // namespace smd::sim

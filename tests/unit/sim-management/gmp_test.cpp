// QP1: general management packets travel like data, and the performance agent answers them.
#include <gtest/gtest.h>

#include "smd/mad/port_counters.h"
#include "tests/unit/sim-management/examples.h"

namespace smd::sim::test {
namespace {

using Data = std::span<std::byte, kPerfDataSize>;

class Gmp : public ::testing::Test {
 protected:
  explicit Gmp(const FabricSpec& spec = line()) : rig_(spec) {
    configure_line(rig_);
    activate_line(rig_);
    rig_.arrivals.clear();
  }

  MadPacket perf(Method method, std::uint16_t attribute, Lid to) {
    MadPacket packet;
    packet.remote_lid = to;
    packet.local_qp = packet.remote_qp = 1;
    encode_mad_header({.mgmt_class = static_cast<std::uint8_t>(MgmtClass::Performance),
                       .method = static_cast<std::uint8_t>(method),
                       .transaction_id = ++transaction_,
                       .attribute_id = attribute},
                      packet.mad);
    return packet;
  }

  std::optional<MadPacket> ask(const MadPacket& packet) {
    rig_.arrivals.clear();
    rig_.fabric.inject(rig_.client, packet);
    rig_.run();
    if (rig_.arrivals.size() != 1) return std::nullopt;
    return rig_.arrivals[0].packet;
  }

  std::optional<PortCounters> counters(Lid lid, unsigned port, unsigned reset = 0) {
    MadPacket packet =
        perf(reset != 0 ? Method::Set : Method::Get, perf_attribute::kPortCounters, lid);
    PortCounters select;
    select.port_select = port_num(port);
    select.counter_select = static_cast<std::uint16_t>(reset);
    encode_port_counters(select, data_of(packet));
    const auto answer = ask(packet);
    if (!answer.has_value() || status_of(*answer) != 0) return std::nullopt;
    return decode_port_counters(std::span(answer->mad).subspan<kPerfDataOffset>()).value();
  }

  static Data data_of(MadPacket& packet) {
    return std::span<std::byte, kMadSize>(packet.mad).subspan<kPerfDataOffset>();
  }

  static unsigned status_of(const MadPacket& packet) {
    return decode_mad_header(packet.mad).value().status;
  }

  const PortCounterRegs& regs(std::uint32_t node, unsigned port) {
    return rig_.fabric.node_state(node).ports[port].counters;
  }

  std::uint64_t transaction_ = 0;
  Rig rig_;
};

TEST_F(Gmp, CountersCountWhatPassesInUnitsOfFourBytes) {
  const std::uint64_t before = regs(3, 1).wide_rcv_packets;
  const auto first = counters(Lid{4}, 1);
  ASSERT_TRUE(first.has_value());
  EXPECT_EQ(first->rcv_packets, before + 1) << "the request itself is counted";
  EXPECT_EQ(first->rcv_data, 72 * first->rcv_packets);
  const auto second = counters(Lid{4}, 1);
  EXPECT_EQ(second->rcv_packets, first->rcv_packets + 1);
  EXPECT_EQ(second->xmit_packets, first->xmit_packets + 1);
}

TEST_F(Gmp, AnswersComeBackToTheAskersQp) {
  const auto answer = ask(perf(Method::Get, perf_attribute::kClassPortInfo, Lid{3}));
  ASSERT_TRUE(answer.has_value());
  EXPECT_EQ(answer->remote_lid, Lid{3});
  EXPECT_EQ(answer->local_qp, 1u);
  EXPECT_EQ(answer->remote_qp, 1u);
  EXPECT_EQ(status_of(*answer), 0u);
  EXPECT_EQ(std::to_integer<int>(answer->mad[kPerfDataOffset]), 1);
}

TEST_F(Gmp, AResetTouchesTheChosenCountersAlone) {
  constexpr unsigned kRcvPackets = 1u << 15;
  ASSERT_TRUE(counters(Lid{4}, 1, kRcvPackets).has_value());
  EXPECT_EQ(regs(3, 1).rcv_packets, 0u);
  EXPECT_NE(regs(3, 1).rcv_data, 0u);
  EXPECT_NE(regs(3, 1).wide_rcv_packets, 0u) << "the 64-bit counters have their own reset";
}

TEST_F(Gmp, WideCountersAndTheirReset) {
  MadPacket packet = perf(Method::Set, perf_attribute::kPortCountersExtended, Lid{4});
  PortCountersExtended select;
  select.port_select = PortNum{1};
  select.counter_select = 1u << 3;  // received packets
  encode_port_counters_extended(select, data_of(packet));
  ASSERT_TRUE(ask(packet).has_value());
  EXPECT_EQ(regs(3, 1).wide_rcv_packets, 0u);
  EXPECT_NE(regs(3, 1).wide_rcv_data, 0u);
  EXPECT_NE(regs(3, 1).rcv_packets, 0u);
}

TEST_F(Gmp, Port255SumsASwitch) {
  const auto all = counters(Lid{2}, 255);
  ASSERT_TRUE(all.has_value());
  const auto one = regs(1, 1).rcv_packets;
  const auto two = regs(1, 2).rcv_packets;
  EXPECT_EQ(all->rcv_packets, one + two);
}

TEST_F(Gmp, RefusesWhatCannotBe) {
  EXPECT_FALSE(counters(Lid{2}, 5).has_value());
  EXPECT_FALSE(counters(Lid{4}, 2).has_value());
  const auto unknown = ask(perf(Method::Get, 0x77, Lid{4}));
  ASSERT_TRUE(unknown.has_value());
  EXPECT_EQ(status_of(*unknown), 0x0cu);
  const auto method = ask(perf(static_cast<Method>(0x12), perf_attribute::kPortCounters, Lid{4}));
  ASSERT_TRUE(method.has_value());
  EXPECT_EQ(status_of(*method), 0x08u);
}

TEST_F(Gmp, NeedsActivePorts) {
  rig_.set_port({1, 2}, 3, [](PortInfo& info) { info.port_state = 1; });
  rig_.run(std::chrono::seconds(20));  // traps about it are given up
  rig_.arrivals.clear();
  const std::uint64_t discards = regs(2, 3).xmit_discards;
  EXPECT_FALSE(counters(Lid{4}, 1).has_value());
  EXPECT_EQ(regs(2, 3).xmit_discards, discards + 1);
  EXPECT_TRUE(rig_.ask(request(Method::Get, AttributeId::NodeInfo), Lid{4}).has_value())
      << "SMPs pass in Initialize";
}

FabricSpec line_with_enhanced_port0() {
  FabricSpec spec = line();
  spec.nodes[1].enhanced_port0 = true;
  return spec;
}

class GmpOfEnhancedPort0 : public Gmp {
 protected:
  GmpOfEnhancedPort0() : Gmp(line_with_enhanced_port0()) {}

  void set_state(PortState state) {
    rig_.set_port(
        {1}, 0, [&](PortInfo& info) { info.port_state = static_cast<std::uint8_t>(state); });
  }
};

TEST_F(GmpOfEnhancedPort0, NeedsItActiveToLeave) {
  unsigned answers = 0;
  const auto on_switch = rig_.fabric.attach(1, PortNum{0}, [&](const MadPacket&) { ++answers; });
  const auto send = [&] {
    rig_.fabric.inject(on_switch, perf(Method::Get, perf_attribute::kClassPortInfo, Lid{4}));
    rig_.run();
  };
  send();
  EXPECT_EQ(answers, 0u);
  EXPECT_EQ(regs(1, 0).xmit_discards, 1u) << "in Initialize";
  EXPECT_TRUE(rig_.ask(request(Method::Get, AttributeId::NodeInfo), Lid{2}).has_value())
      << "SMPs pass in Initialize";
  set_state(PortState::Armed);
  send();
  EXPECT_EQ(answers, 0u);
  EXPECT_EQ(regs(1, 0).xmit_discards, 2u) << "Armed";
  EXPECT_FALSE(counters(Lid{2}, 1).has_value());
  EXPECT_EQ(regs(1, 0).xmit_discards, 3u) << "what came in is answered, and goes no further";
  set_state(PortState::Active);
  send();
  EXPECT_EQ(answers, 1u);
  EXPECT_TRUE(counters(Lid{2}, 1).has_value());
  EXPECT_EQ(regs(1, 0).xmit_discards, 3u);
}

TEST_F(Gmp, WaitCountersOutlastReboots) {
  rig_.fabric.set_wait_counters(1, WaitCounters::Silent);
  rig_.fabric.set_congestion_support(1, CongestionSupport::None);
  rig_.fabric.set_node(1, false);
  rig_.fabric.set_node(1, true);
  rig_.run();
  EXPECT_EQ(rig_.fabric.node_state(1).options.wait_counters, WaitCounters::Silent);
  EXPECT_EQ(rig_.fabric.node_state(1).options.congestion, CongestionSupport::None);
}

// Its port 0 discards what is for somebody else, wherever tables lead it.
TEST_F(Gmp, ASwitchDoesNotAnswerForALidThatIsNotItsOwn) {
  rig_.set_routes({1}, {{1, 1}, {2, 0}, {3, 2}, {50, 2}});
  rig_.set_routes({1, 2}, {{1, 1}, {2, 1}, {3, 0}, {50, 0}});
  const std::uint64_t before = rig_.fabric.stats().dropped_route;
  EXPECT_FALSE(ask(perf(Method::Get, perf_attribute::kPortCounters, Lid{50})).has_value());
  EXPECT_EQ(rig_.fabric.stats().dropped_route, before + 1);
  EXPECT_FALSE(rig_.ask(request(Method::Get, AttributeId::NodeInfo), Lid{50}).has_value());
  EXPECT_EQ(rig_.fabric.stats().dropped_route, before + 2);
  EXPECT_TRUE(ask(perf(Method::Get, perf_attribute::kPortCounters, Lid{3})).has_value());
  EXPECT_TRUE(rig_.ask(request(Method::Get, AttributeId::NodeInfo), Lid{3}).has_value());
}

TEST_F(Gmp, AnArmedPortReceivesButDoesNotSend) {
  rig_.set_port({1, 2}, 3, [](PortInfo& info) { info.port_state = 1; });
  rig_.activate({1, 2}, 3);
  rig_.set_port({1, 2, 3}, 1, [](PortInfo& info) { info.port_state = 3; });
  rig_.run(std::chrono::seconds(20));
  const std::uint64_t received = regs(3, 1).wide_rcv_packets;
  EXPECT_FALSE(counters(Lid{4}, 1).has_value());
  EXPECT_EQ(regs(3, 1).wide_rcv_packets, received + 1);
  EXPECT_EQ(regs(3, 1).xmit_discards, 1);
}

TEST_F(Gmp, SlToVlMayForbidATurn) {
  SlToVl blocked;
  blocked.fill(kManagementVl);
  Smp set = along({1}, request(Method::Set, AttributeId::SlToVlMappingTable, 1u << 8 | 2));
  encode_sl_to_vl(blocked, set.data);
  ASSERT_TRUE(rig_.ask(set).has_value());
  EXPECT_FALSE(counters(Lid{4}, 1).has_value());
  EXPECT_TRUE(counters(Lid{2}, 1).has_value());
  EXPECT_TRUE(rig_.ask(request(Method::Get, AttributeId::NodeInfo), Lid{4}).has_value())
      << "VL15 is not mapped";
}

TEST_F(Gmp, ReachesASubnetAdministratorAndItsAnswerReturns) {
  std::vector<MadPacket> seen;
  SimFabric::ClientId server{};
  server = rig_.fabric.attach(3, PortNum{1}, [&](const MadPacket& packet) {
    seen.push_back(packet);
    MadPacket answer = packet;
    answer.mad[3] = static_cast<std::byte>(Method::GetResp);
    rig_.fabric.inject(server, answer);
  });
  MadPacket query = perf(Method::Get, 0x35, Lid{4});
  query.mad[1] = static_cast<std::byte>(MgmtClass::SubnAdm);
  query.mad[2] = std::byte{2};
  const auto answer = ask(query);
  ASSERT_EQ(seen.size(), 1u);
  EXPECT_EQ(seen[0].remote_lid, Lid{1});
  ASSERT_TRUE(answer.has_value());
  EXPECT_EQ(answer->remote_lid, Lid{4});
}

TEST_F(Gmp, NobodyAtTheClassSaysSo) {
  MadPacket query = perf(Method::Get, 0x35, Lid{4});
  query.mad[1] = static_cast<std::byte>(MgmtClass::SubnAdm);
  const auto answer = ask(query);
  ASSERT_TRUE(answer.has_value());
  EXPECT_EQ(status_of(*answer), 0x0cu);
}

TEST_F(Gmp, WhatOneEndSendsTheOtherReceivesOrIsLostOnTheWay) {
  const std::uint64_t before = rig_.fabric.stats().dropped_fault;
  rig_.fabric.set_wire_faults({.drop = 0.1, .corrupt = 0.1, .reorder = 0.2});
  for (int i = 0; i < 500; ++i) rig_.inject(get({1, 2, 3}, AttributeId::NodeInfo));
  rig_.run();
  const auto ends = {
      std::tuple{0u, 1u, 1u, 1u}, std::tuple{1u, 2u, 2u, 1u}, std::tuple{2u, 3u, 3u, 1u}};
  std::uint64_t lost = 0;
  for (const auto& [a, pa, b, pb] : ends) {
    const auto there = regs(a, pa).wide_xmit_packets - regs(b, pb).wide_rcv_packets;
    const auto back = regs(b, pb).wide_xmit_packets - regs(a, pa).wide_rcv_packets;
    lost += there + back;
  }
  EXPECT_EQ(lost, rig_.fabric.stats().dropped_fault - before);
  EXPECT_GT(lost, 0u);
}

}  // namespace
}  // namespace smd::sim::test

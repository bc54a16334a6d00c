// Everything that can go wrong on purpose: wires, cables, nodes, buffers. And: the same seed gives
// the same run.
#include <gtest/gtest.h>

#include "tests/unit/sim-management/examples.h"

namespace smd::sim::test {
namespace faults_test {

using namespace std::chrono_literals;

Timing simple() {
  return {.smi_pass = 10us, .sma_time = 5us, .switch_hop = 100ns, .cable = 50ns, .byte_ns = 1};
}

class WireFaultTest : public ::testing::Test {
 protected:
  /// Sends `count` Gets to h3, one per 200 us, and returns how many answers came.
  std::size_t send(unsigned count, const WireFaults& faults) {
    rig_.fabric.set_wire_faults(faults);
    rig_.arrivals.clear();
    for (unsigned i = 0; i < count; ++i) {
      rig_.inject(get({1, 2, 3}, AttributeId::NodeInfo));
      rig_.run(200us);
    }
    rig_.run();
    return rig_.arrivals.size();
  }

  const SimFabricStats& stats() { return rig_.fabric.stats(); }

  Rig rig_{line(), simple(), 7};
};

TEST_F(WireFaultTest, Drop) {
  EXPECT_EQ(send(10, {.drop = 1}), 0u);
  EXPECT_EQ(stats().dropped_fault, 10u);
  const std::size_t through = send(1000, {.drop = 0.05});
  // Six wires: 0.95^6 = 0.735.
  EXPECT_NEAR(static_cast<double>(through), 735, 60);
}

TEST_F(WireFaultTest, Duplicate) {
  // Each of six wires doubles what it gets.
  EXPECT_EQ(send(1, {.duplicate = 1}), 64u);
}

TEST_F(WireFaultTest, CorruptIsDiscardedByTheReceiver) {
  EXPECT_EQ(send(10, {.corrupt = 1}), 0u);
  EXPECT_EQ(stats().dropped_fault, 10u);
  EXPECT_EQ(rig_.fabric.node_state(1).ports[1].counters.rcv_errors, 10);
}

TEST_F(WireFaultTest, CorruptUndetectedReachesTheDecoders) {
  const std::size_t through = send(2000, {.corrupt = 0.3, .corrupt_undetected = true});
  EXPECT_GT(through, 500u);
  EXPECT_EQ(stats().dropped_fault, 0u);
  unsigned damaged = 0;
  for (const Arrival& arrival : rig_.arrivals) {
    damaged += arrival.smp.transaction_id < 1000 || arrival.smp.status != 0;
  }
  EXPECT_GT(damaged, 0u);
}

TEST_F(WireFaultTest, ReorderLetsLaterOnesOvertake) {
  rig_.fabric.set_wire_faults({.reorder = 0.5, .reorder_delay = 100us});
  std::vector<std::uint64_t> sent;
  for (int i = 0; i < 50; ++i) {
    const Smp smp = get({1, 2, 3}, AttributeId::NodeInfo);
    sent.push_back(smp.transaction_id);
    rig_.inject(smp);
  }
  rig_.run();
  std::vector<std::uint64_t> got;
  for (const Arrival& arrival : rig_.arrivals) got.push_back(arrival.smp.transaction_id);
  EXPECT_NE(got, sent);
  std::sort(got.begin(), got.end());
  EXPECT_EQ(got, sent) << "late, but none is lost";
}

TEST_F(WireFaultTest, ZeroDelayReorderIsHarmless) {
  EXPECT_EQ(send(5, {.reorder = 1, .reorder_delay = 0us}), 5u);
}

std::uint64_t run_hash(std::uint64_t seed, const WireFaults& faults) {
  Rig rig(line(), Timing::modern(), seed);
  rig.fabric.set_wire_faults(faults);
  for (int i = 0; i < 200; ++i) {
    Smp smp = get({1, 2, 3}, AttributeId::NodeInfo);
    smp.transaction_id = static_cast<std::uint64_t>(i);
    rig.inject(smp);
    if (i == 100) rig.fabric.reboot_node(2, 30us);
    rig.run(20us);
  }
  rig.run();
  return rig.fabric.trace_hash();
}

TEST(Determinism, OneSeedOneRun) {
  const WireFaults faults{.drop = 0.05, .duplicate = 0.05, .corrupt = 0.02, .reorder = 0.1};
  EXPECT_EQ(run_hash(1, faults), run_hash(1, faults));
  EXPECT_NE(run_hash(1, faults), run_hash(2, faults));
  EXPECT_EQ(run_hash(1, {}), run_hash(2, {})) << "without faults there is nothing to draw";
}

TEST(Vl15, ASwitchPortHoldsSoManyAndLosesTheRest) {
  Timing timing = simple();
  timing.vl15_packets = 3;
  // Two hosts send at once; s1 serves one SMP per 100 us.
  timing.smi_pass = 100us;
  Drawing draw;
  const auto h0 = draw.ca("h0");
  const auto s1 = draw.sw("s1");
  draw.cable(h0, 1, s1, 1);
  Rig rig(draw.spec(), timing);
  rig.fabric.set_wire_faults({.duplicate = 1});
  for (int i = 0; i < 3; ++i) rig.inject(get({1}, AttributeId::NodeInfo));
  rig.run();
  // Two copies per 100 us come in and one goes out; answers share the SMI.
  EXPECT_GT(rig.fabric.stats().dropped_vl15, 0u);
  EXPECT_EQ(rig.fabric.node_state(1).ports[1].counters.vl15_dropped,
            rig.fabric.stats().dropped_vl15);
}

TEST(Vl15, ZeroMeansNoLimit) {
  Rig rig(line(), simple());
  for (int i = 0; i < 500; ++i) rig.inject(get({1, 2}, AttributeId::NodeInfo));
  rig.run();
  EXPECT_EQ(rig.arrivals.size(), 500u);
  EXPECT_EQ(rig.fabric.stats().dropped_vl15, 0u);
}

TEST(Nodes, ASilentNodeKeepsItsLinksAndRelaysButAnswersNothing) {
  Rig rig(line());
  configure_line(rig);
  rig.fabric.set_silent(1, true);
  EXPECT_TRUE(rig.fabric.link_up(1, PortNum{1}));
  EXPECT_FALSE(rig.ask(get({1}, AttributeId::NodeInfo)).has_value());
  EXPECT_FALSE(rig.ask(get({1, 2}, AttributeId::NodeInfo)).has_value())
      << "directed SMPs need its SMI";
  EXPECT_TRUE(rig.ask(request(Method::Get, AttributeId::NodeInfo), Lid{4}).has_value())
      << "its relay works without the agent";
  EXPECT_EQ(rig.fabric.stats().dropped_link, 2u);
  rig.fabric.set_silent(1, false);
  EXPECT_TRUE(rig.ask(get({1}, AttributeId::NodeInfo)).has_value());
}

TEST(Nodes, ANodeThatDiesTakesItsLinksAndItsPacketsAlong) {
  Rig rig(line(), simple());
  configure_line(rig);
  rig.arrivals.clear();
  rig.inject(get({1, 2, 3}, AttributeId::NodeInfo));
  rig.run(25us);  // now at s2
  rig.fabric.set_node(2, false);
  rig.run(100us);
  EXPECT_TRUE(rig.arrivals.empty() || rig.arrivals[0].smp.method == Method::Trap);
  EXPECT_EQ(rig.fabric.port_info(1, PortNum{2}).state(), PortState::Down);
  EXPECT_EQ(rig.fabric.port_info(3, PortNum{1}).state(), PortState::Down);
  EXPECT_TRUE(rig.fabric.switch_info(1).port_state_change);
  EXPECT_EQ(rig.fabric.stats().dropped_link, 1u);
  EXPECT_FALSE(rig.ask(get({1, 2}, AttributeId::NodeInfo)).has_value());
}

TEST(Nodes, ARebootForgetsEverything) {
  Rig rig(line());
  configure_line(rig);
  activate_line(rig);
  rig.fabric.reboot_node(2, 10ms);
  EXPECT_FALSE(rig.fabric.link_up(1, PortNum{2}));
  rig.run(9ms);
  EXPECT_FALSE(rig.fabric.link_up(1, PortNum{2}));
  rig.run(2ms);
  EXPECT_TRUE(rig.fabric.link_up(1, PortNum{2}));
  EXPECT_EQ(rig.fabric.port_info(2, PortNum{0}).lid, kUnassignedLid);
  EXPECT_EQ(rig.fabric.port_info(2, PortNum{1}).state(), PortState::Initialize);
  EXPECT_EQ(rig.fabric.port_info(1, PortNum{2}).state(), PortState::Initialize);
  EXPECT_EQ(rig.fabric.lft(2, Lid{4}), kNoRoute);
  EXPECT_TRUE(rig.fabric.switch_info(2).port_state_change);
  EXPECT_EQ(rig.fabric.port_info(3, PortNum{1}).lid, Lid{4}) << "its neighbours remember";
  EXPECT_TRUE(rig.ask(get({1, 2}, AttributeId::NodeInfo)).has_value());
}

TEST(Nodes, ARebootedManagerHostStillShowsItsManager) {
  Rig rig(line());
  rig.fabric.set_is_sm(rig.client, true);
  rig.fabric.set_node(0, false);
  EXPECT_FALSE(rig.ask(get({}, AttributeId::NodeInfo)).has_value());
  rig.fabric.set_node(0, true);
  EXPECT_NE(rig.fabric.port_info(0, PortNum{1}).capability_mask & port_cap::kIsSm, 0u);
  EXPECT_TRUE(rig.ask(get({1}, AttributeId::NodeInfo)).has_value());
}

TEST(Cables, WhatIsOnTheWireIsLostWithIt) {
  Rig rig(line(), simple());
  rig.inject(get({1}, AttributeId::NodeInfo));
  rig.run(10'020ns);  // left the SMI, head not yet at s1
  rig.fabric.set_link(0, PortNum{1}, false);
  rig.fabric.set_link(0, PortNum{1}, true);
  rig.run();
  EXPECT_TRUE(rig.arrivals.empty()) << "a link that came back does not bring its packets back";
  EXPECT_EQ(rig.fabric.stats().dropped_link, 1u);
}

TEST(Cables, CanBeMoved) {
  Rig rig(line());
  // h3 moves from s2.3 to s1.4.
  rig.fabric.move_cable(2, PortNum{3}, 1, PortNum{4});
  EXPECT_FALSE(rig.fabric.link_up(2, PortNum{3}));
  EXPECT_TRUE(rig.fabric.link_up(1, PortNum{4}));
  EXPECT_EQ(rig.fabric.spec().nodes[3].ports[1].peer_node, 1u);
  EXPECT_EQ(rig.fabric.spec().nodes[2].ports[3].peer_node, kNoNode);
  const auto answer = rig.ask(get({1, 4}, AttributeId::NodeDescription));
  ASSERT_TRUE(answer.has_value());
  EXPECT_EQ(decode_node_description(answer->data).value(), "h3");
  EXPECT_FALSE(rig.ask(get({1, 2, 3}, AttributeId::NodeInfo)).has_value());
}

TEST(Cables, MovingOntoAUsedPortPullsWhatWasThere) {
  Rig rig(line());
  rig.fabric.move_cable(2, PortNum{3}, 1, PortNum{2});
  const auto answer = rig.ask(get({1, 2}, AttributeId::NodeDescription));
  ASSERT_TRUE(answer.has_value());
  EXPECT_EQ(decode_node_description(answer->data).value(), "h3");
  EXPECT_FALSE(rig.fabric.link_up(2, PortNum{1}));
}

TEST(Fabric, MayBeDestroyedWithPacketsUnderWay) {
  SimRuntime runtime;
  unsigned answers = 0;
  {
    SimFabric fabric(runtime, line(), simple(), 1);
    const auto client = fabric.attach(0, PortNum{1}, [&answers](const MadPacket&) { ++answers; });
    MadPacket packet;
    encode_smp(get({1, 2, 3}, AttributeId::NodeInfo), packet.mad);
    fabric.inject(client, packet);
    runtime.run_until(runtime.now() + 15us);
    fabric.reboot_node(3, 1s);
  }
  runtime.run_until(runtime.now() + 10s);
  EXPECT_EQ(answers, 0u);
}

}  // namespace faults_test
}  // namespace smd::sim::test

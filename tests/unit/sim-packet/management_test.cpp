// VL15: first of all lanes, without credits, lost where there is no room.
#include <gmock/gmock.h>

#include "sim-backend/packet/packet_net.h"
#include "tests/unit/sim-packet/rig.h"

namespace smd::sim::test {
namespace {

constexpr unsigned kSmp = 290;  // bytes: 1,160 ns on 1x SDR

struct Heads final : ManagementHandler {
  struct Head {
    std::uint64_t cookie = 0;
    std::uint32_t node = 0;
    PortNum port;
    Picos head = 0;
    Picos tail = 0;
  };

  void on_head(
      std::uint64_t cookie, std::uint32_t node, PortNum port, Picos head, Picos tail) override {
    heads.push_back({cookie, node, port, head, tail});
  }

  void on_lost(std::uint64_t cookie) override { lost.push_back(cookie); }

  std::vector<Head> heads;
  std::vector<std::uint64_t> lost;
};

struct ManagementLane : testing::Test {
  ManagementLane() : rig(draw("H1-S1 S1-S2 S2-H2"), with_vl15_buffers()) {
    rig.net->set_management_handler(&heads);
    s1 = rig.node("S1");
  }

  static PacketOptions with_vl15_buffers() {
    PacketOptions out = PacketOptions::thesis();
    out.switches.vl15_buffer_bytes = 4096;
    return out;
  }

  bool send(std::uint64_t cookie, Picos ready = 0, Picos tail_in = 0) {
    return rig.net->send_management(s1, PortNum{2}, kSmp, ready, tail_in, cookie);
  }

  PacketRig rig;
  Heads heads;
  std::uint32_t s1 = 0;
};

TEST_F(ManagementLane, CrossesOneLink) {
  EXPECT_TRUE(send(7, 1000 * kNano));
  rig.net->run_until(kMilli);
  ASSERT_EQ(heads.heads.size(), 1u);
  EXPECT_EQ(heads.heads[0].cookie, 7u);
  EXPECT_EQ(heads.heads[0].node, rig.node("S2"));
  EXPECT_EQ(heads.heads[0].port, PortNum{1});
  EXPECT_EQ(heads.heads[0].head, 1100 * kNano);
  EXPECT_EQ(heads.heads[0].tail, (1100 + 1160) * kNano);
}

TEST_F(ManagementLane, GoesBeforeDataButDoesNotBreakIn) {
  std::vector<Script::Line> lines;
  for (int i = 0; i < 10; ++i) lines.push_back({.at = 0, .source = 0, .what = rig.to(1, 256)});
  Script script(lines);
  rig.net->set_workload(&script);
  rig.net->set_observer(&script);
  rig.net->start();
  rig.net->run_until(1500 * kNano);
  // Data leaves S1 from 306, every 1,130 a packet of 1,128: the second ends at 2,564.
  EXPECT_TRUE(send(1, 1500 * kNano));
  EXPECT_TRUE(send(2, 1500 * kNano));
  rig.net->run_until(kMilli);
  ASSERT_EQ(heads.heads.size(), 2u);
  EXPECT_EQ(heads.heads[0].head, (306 + 1130 + 1128 + 100) * kNano);
  EXPECT_EQ(heads.heads[1].head, (306 + 1130 + 1128 + 1160 + 100) * kNano);
  ASSERT_EQ(script.arrivals.size(), 10u);
  // The third data packet left after both.
  EXPECT_GE(script.arrivals[2].tail - script.arrivals[1].tail, (1128 + 2 * 1160) * kNano);
  EXPECT_EQ(rig.net->audit(), "");
}

TEST_F(ManagementLane, IsLostWhereThereIsNoRoom) {
  for (std::uint64_t i = 0; i < 14; ++i) EXPECT_TRUE(send(i)) << i;
  EXPECT_FALSE(send(14)) << "4 KiB hold 14";
  EXPECT_EQ(rig.net->stats().vl15_dropped, 1u);
  EXPECT_EQ(rig.discarded(Discard::OutputOverflow), 1u);
  rig.net->run_until(kMilli);
  EXPECT_EQ(heads.heads.size(), 14u);
  EXPECT_TRUE(send(15));
  EXPECT_EQ(rig.net->audit(), "");
}

TEST_F(ManagementLane, WaitsForATailThatASlowInputBrings) {
  EXPECT_TRUE(send(1, 100 * kNano, 5000 * kNano));
  rig.net->run_until(kMilli);
  EXPECT_EQ(heads.heads.at(0).tail, 5100 * kNano);
}

TEST_F(ManagementLane, PassesWhatIsInitializeButNotWhatIsDown) {
  const auto set = [&](PortState state) {
    rig.fabric.nodes[s1].ports[2].info.port_state = static_cast<std::uint8_t>(state);
    rig.net->load(s1, rig.fabric.nodes[s1]);
  };
  set(PortState::Initialize);
  EXPECT_TRUE(send(1));
  rig.net->run_until(10 * kMicro);
  EXPECT_EQ(heads.heads.size(), 1u);
  // One is on the link and one waits when it drops.
  EXPECT_TRUE(send(2));
  EXPECT_TRUE(send(3));
  rig.net->run_until(10 * kMicro + 50 * kNano);
  set(PortState::Down);
  EXPECT_FALSE(send(4));
  rig.net->run_until(kMilli);
  EXPECT_EQ(heads.heads.size(), 1u);
  EXPECT_THAT(heads.lost, testing::UnorderedElementsAre(2, 3));
}

}  // namespace
}  // namespace smd::sim::test
